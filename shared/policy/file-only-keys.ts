/**
 * Keys for the files and servers that a node of Weir uses: they can be changed only in the configuration file, not
 * through the API.
 */
export const FILE_ONLY_KEYS: readonly string[] = [
  ...['server.data_dir', 'database.url', 'database.owner_url', 'logging.dnstap'],
  ...['database.password_file', 'database.owner_password_file'],
  ...['server.web_tls.tls_cert_path', 'server.web_tls.tls_key_path'],
  ...['server.encrypted_dns.tls_cert_path', 'server.encrypted_dns.tls_key_path'],
];
