/** Keys of a node for what Weir reads, writes or connects to: only a person can change them, in the file. */
export const FILE_ONLY_KEYS: readonly string[] = [
  ...['server.data_dir', 'database.url', 'database.owner_url', 'logging.dnstap'],
  ...['database.password_file', 'database.owner_password_file'],
  ...['server.web_tls.tls_cert_path', 'server.web_tls.tls_key_path'],
  ...['server.encrypted_dns.tls_cert_path', 'server.encrypted_dns.tls_key_path'],
];
