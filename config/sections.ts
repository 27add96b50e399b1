/**
 * Every key of the configuration with its type, default, unit and help. Keys are added only here: the type `Config`,
 * the checks and the names of environment variables derive from this table, and `npm run check -- config --write`
 * generates `weir.toml` and the dashboard's table. Keys of `[dns]` are in `dns-section.ts`; rules that concern several
 * keys are in `schema.ts`.
 */
import { z } from 'zod';
import { LOG_PRESSURES } from '../shared/query-log.ts';
import { SSL_MODES } from '../shared/net/postgres-url.ts';
import { dns } from './dns-section.ts';
import { bool, int, key, list, section } from './keys.ts';
import * as is from './value-checks.ts';

const MIB = 1024 * 1024;
const DAY_SECS = 86_400;
const YEAR_SECS = 365 * DAY_SECS;
const restart = true;
const perNode = true;

const acme = section(
  'A certificate for server.web_tls by ACME (RFC 8555), for example from Let’s Encrypt. A button in Settings orders it; Weir renews it.',
  {
    directory_url: key(is.webUrl.default('https://acme-v02.api.letsencrypt.org/directory'), {
      doc: 'Directory URL of the ACME server.',
    }),
    directory_ca_path: key(is.orEmpty(is.path).default(''), {
      perNode,
      doc: 'Certificate authorities trusted for the ACME server itself, in PEM. Empty means those that come with Node.js.',
    }),
    names: key(list(is.certificateName).default([]), {
      doc: 'Names of the certificate. *.dns.example.org also covers the names that contain client keys. Empty disables ACME.',
    }),
    email: key(is.text.default(''), {
      doc: 'Email address for messages from the ACME server. May be empty.',
    }),
    terms_agreed: key(bool.default(false), {
      doc: 'Agrees to the terms of service of the ACME server.',
    }),
    challenge: key(z.enum(['http-01', 'dns-01']).default('http-01'), {
      doc: 'Proof of control: http-01 answers on port 80, dns-01 adds TXT records by dynamic updates (RFC 2136). Wildcard names need dns-01.',
    }),
    http_port: key(int(0, 65_535).default(80), {
      doc: 'Port that is opened during an order for http-01. 0 means only the web port; port 80 must then be forwarded to it.',
    }),
    dns_server: key(is.orEmpty(is.hostPort).default(''), {
      doc: 'Primary server of the zone, which receives the updates for dns-01, such as 192.0.2.53:53.',
    }),
    dns_wait_secs: key(int(0, 3600).default(10), {
      unit: 'seconds',
      doc: 'Time to wait after an update until secondary servers have the record.',
    }),
    tsig_name: key(is.orEmpty(is.domain).default(''), {
      doc: 'Name of the TSIG key for updates. Empty sends them without a signature.',
    }),
    tsig_algorithm: key(z.enum(['hmac-sha256', 'hmac-sha384', 'hmac-sha512']).default('hmac-sha256'), {
      doc: 'Algorithm of the TSIG key.',
    }),
    tsig_key_file: key(is.orEmpty(is.path).default(''), {
      perNode,
      doc: 'File with the secret of the TSIG key in base64. It is read for each order.',
    }),
  },
);

const server = section('Listening addresses and the identity of this node.', {
  web_port: key(int(0, 65_535).default(8080), {
    restart,
    doc: 'Port of the dashboard and the API. 0 picks a free port.',
  }),
  alt_compat: key(bool.default(false), {
    restart,
    doc: 'Serves the compatibility API at /api and the native API at /svc/api.',
  }),
  dns_port: key(int(1, 65_535).default(53), { restart, doc: 'Port of DNS over UDP and TCP.' }),
  bind_address: key(list(is.ip, 1).default(['0.0.0.0', '::']), {
    restart,
    doc: 'Addresses to listen on, for DNS and the dashboard.',
  }),
  workers: key(int(0, 256).default(0), {
    restart,
    unit: 'threads',
    doc: 'Workers that answer DNS. 0 means one per core.',
  }),
  node_name: key(is.name.default(''), {
    restart,
    doc: 'Name of this node in the cluster and the log. Empty means the host name.',
  }),
  site: key(is.name.default(''), {
    restart,
    doc: 'Name of the network that this node is in. Only nodes of the same site share the addresses of clients.',
  }),
  start_unfiltered: key(bool.default(true), {
    restart,
    doc: 'If a node has no policy 30 s after it starts, for example with an empty disk and no database: true answers without filtering, false keeps answering SERVFAIL to other machines.',
  }),
  data_dir: key(is.path.default('./data'), {
    restart,
    doc: 'Directory of the embedded database, the lists and the last snapshot.',
  }),
  trusted_proxies: key(list(is.cidr).default([]), {
    restart,
    doc: 'Networks of reverse proxies whose X-Forwarded-For header is trusted.',
  }),
  allowed_hosts: key(list(is.domain).default([]), {
    doc: 'Additional host names of the dashboard and API. Addresses, localhost and the node name are always accepted; others get status 421.',
  }),
  proxy_protocol_enabled: key(bool.default(false), {
    restart,
    doc: 'Expects a PROXY protocol v2 header on every DNS and web connection, from a load balancer that always sends one.',
  }),
  proxy_protocol_trusted: key(list(is.cidr).default([]), {
    restart,
    doc: 'Networks that send the PROXY header, including over UDP. All other addresses are treated as clients. Empty means that every peer sends it, except over UDP.',
  }),
  metrics_public: key(bool.default(false), {
    doc: 'Allows reading /metrics without authentication.',
  }),
  update_url: key(is.orEmpty(is.httpsUrl).default(''), {
    doc: 'URL that is requested once a day and returns the newest version of Weir, as a JSON object with version and url (a page about it). The dashboard shows administrators a newer version; nothing is installed. Empty disables this.',
  }),
  web_tls: section('HTTPS for the dashboard and the API.', {
    enabled: key(bool.default(false), {
      restart,
      doc: 'Serves HTTPS on the web port and redirects plain HTTP. Without certificate files, Weir creates a self-signed certificate.',
    }),
    tls_cert_path: key(is.path.default('/data/cert.pem'), {
      restart,
      doc: 'Certificate chain in PEM. Weir loads a changed file by itself. If the default path is not writable, <data_dir>/tls/cert.pem is used.',
    }),
    tls_key_path: key(is.path.default('/data/key.pem'), {
      restart,
      doc: 'Private key of the certificate in PEM, without a passphrase. If the default path is not writable, <data_dir>/tls/key.pem is used.',
    }),
  }),
  acme,
  encrypted_dns: section('DNS over TLS and DNS over HTTPS for clients.', {
    dot_enabled: key(bool.default(false), { restart, doc: 'Answers DNS over TLS.' }),
    dot_port: key(int(1, 65_535).default(853), { restart, doc: 'Port of DNS over TLS.' }),
    doh_enabled: key(bool.default(false), {
      restart,
      doc: 'Answers DNS over HTTPS at /dns-query, on doh_port and on the web port.',
    }),
    doh_port: key(int(1, 65_535).default(443), { restart, doc: 'Port of DNS over HTTPS.' }),
    tls_cert_path: key(is.orEmpty(is.path).default(''), {
      restart,
      doc: 'Certificate chain of encrypted DNS in PEM. Empty means the web certificate.',
    }),
    tls_key_path: key(is.orEmpty(is.path).default(''), {
      restart,
      doc: 'Private key of encrypted DNS in PEM. Empty means the key of the web certificate.',
    }),
  }),
});

const database = section('The PostgreSQL server, and what is stored in it.', {
  url: key(is.postgresUrls.default([]), {
    perNode,
    restart,
    secret: true,
    doc: 'URL of a PostgreSQL server, or several: the first one that accepts writes is used. Empty means the embedded server.',
  }),
  owner_url: key(is.postgresUrls.default([]), {
    perNode,
    restart,
    secret: true,
    doc: 'URL of the role that owns the tables, one for each entry of url and in the same order. Weir uses it for migrations and the role of url for queries. Empty means the role of url for both.',
  }),
  password_file: key(is.orEmpty(is.path).default(''), {
    perNode,
    restart,
    doc: 'File whose first line is the password of the role of url. Other users must not be able to read it. It is read for each connection. Empty means the password in url.',
  }),
  owner_password_file: key(is.orEmpty(is.path).default(''), {
    perNode,
    restart,
    doc: 'File whose first line is the password of the role of owner_url, as for password_file.',
  }),
  sslmode: key(z.enum(['', ...SSL_MODES]).default(''), {
    perNode,
    restart,
    doc: 'TLS to the servers, as in libpq: require encrypts, verify-ca also checks the certificate authority, verify-full also checks the name. sslmode in a URL takes precedence. Empty means verify-full if sslrootcert is set, otherwise PGSSLMODE from the environment, otherwise disable.',
  }),
  sslrootcert: key(is.orEmpty(is.path).default(''), {
    perNode,
    restart,
    doc: 'Certificates of the authorities that may sign server certificates, in PEM. system means those of this machine; empty means those that come with Node.js.',
  }),
  log_queries: key(bool.default(true), { doc: 'Stores every query in the query log.' }),
  query_log_days: key(int(1, 3650).default(30), { unit: 'days', doc: 'How long the query log is kept.' }),
  query_log_privacy: key(z.enum(['full', 'no_answers', 'anonymous_clients', 'off']).default('full'), {
    doc: 'How much of a query is stored: everything, everything except answers, no client addresses, or nothing.',
  }),
  log_pressure: key(z.enum(LOG_PRESSURES).default('slow'), {
    doc: 'If the log cannot keep up because the CPU is busy: slow delays answers by up to 10 ms before rows are lost, drop loses rows at once. A slow or unavailable database never delays answers.',
  }),
  log_excluded_domains: key(list(is.domain).default([]), {
    doc: 'Domains that are not logged, including subdomains: no row, live view, export or dnstap. Statistics still count them, unless they are also in stats_excluded_domains.',
  }),
  stats_excluded_domains: key(list(is.domain).default([]), {
    doc: 'Domains that statistics do not count, including subdomains. The query log still contains them, unless they are also in log_excluded_domains.',
  }),
  export_dir: key(is.orEmpty(is.path).default(''), {
    perNode,
    doc: 'Directory to which each finished day of the query log is exported as a Parquet file. Empty disables the export.',
  }),
  rollup_days: key(int(1, 36_500).default(400), {
    unit: 'days',
    doc: 'How long statistics are kept, including top names and clients.',
  }),
  audit_days: key(int(1, 36_500).default(400), {
    unit: 'days',
    doc: 'How long the audit log is kept.',
  }),
});

const cache = section('The answer cache.', {
  enabled: key(bool.default(true), { doc: 'Caches answers until their TTL expires.' }),
  max_bytes: key(int(MIB, 1024 * 1024 * MIB).default(64 * MIB), {
    perNode,
    restart,
    unit: 'bytes',
    doc: 'Size of the cache.',
  }),
  min_ttl_secs: key(int(0, DAY_SECS).default(0), {
    unit: 'seconds',
    doc: 'Minimum TTL of answers, except negative answers.',
  }),
  max_ttl_secs: key(int(1, YEAR_SECS).default(DAY_SECS), {
    unit: 'seconds',
    doc: 'Maximum TTL of answers.',
  }),
  negative_max_ttl_secs: key(int(0, DAY_SECS).default(3600), {
    unit: 'seconds',
    doc: 'Maximum TTL of negative answers, in the cache and as sent to clients.',
  }),
  serve_stale_secs: key(int(0, YEAR_SECS).default(DAY_SECS), {
    unit: 'seconds',
    doc: 'How long stale answers may be served while no upstream server responds (RFC 8767).',
  }),
  persist: key(bool.default(false), {
    doc: 'Saves the cache to disk when Weir stops and loads unexpired answers when it starts.',
  }),
  optimistic_refresh: key(bool.default(true), {
    doc: 'Refreshes popular names shortly before their answers expire.',
  }),
});

const blocking = section('Answers to blocked queries, and list updates.', {
  enabled: key(bool.default(true), { doc: 'Master switch of blocking.' }),
  mode: key(z.enum(['null_ip', 'nxdomain', 'nodata', 'refused', 'custom_ip']).default('null_ip'), {
    doc: 'Answer to a blocked query: 0.0.0.0 and :: (null_ip), NXDOMAIN, NODATA, REFUSED, or the addresses below (custom_ip).',
  }),
  ttl_secs: key(int(0, DAY_SECS).default(10), {
    unit: 'seconds',
    doc: 'TTL of answers to blocked queries.',
  }),
  custom_ipv4: key(is.orEmpty(is.ipv4).default(''), {
    doc: 'IPv4 address for custom_ip. Empty means NODATA for A.',
  }),
  custom_ipv6: key(is.orEmpty(is.ipv6).default(''), {
    doc: 'IPv6 address for custom_ip. Empty means NODATA for AAAA.',
  }),
  list_refresh_hours: key(int(1, 8760).default(24), {
    unit: 'hours',
    doc: 'Interval between updates of a list.',
  }),
  catalog_url: key(
    is.orEmpty(is.webUrl).default('https://adguardteam.github.io/HostlistsRegistry/assets/services.json'),
    {
      doc: "URL of a service catalog that adds to the built-in one, in Weir's or AdGuard's format. Empty means only the built-in catalog.",
    },
  ),
  catalog_refresh_hours: key(int(1, 8760).default(24), {
    unit: 'hours',
    doc: 'Interval between updates of the catalog.',
  }),
  unblock_requests: key(bool.default(false), {
    doc: 'Lets devices ask administrators on the page /check to unblock a name. Requests appear in the dashboard.',
  }),
  list_dirs: key(list(is.path).default(['<data_dir>/lists']), {
    perNode,
    doc: 'Directories that file: lists may be in. <data_dir> stands for server.data_dir.',
  }),
});

const logging = section("Weir's log, on standard error.", {
  level: key(z.enum(['error', 'warn', 'info', 'debug']).default('info'), {
    doc: 'Minimum level to log.',
  }),
  format: key(z.enum(['json', 'text']).default('text'), {
    doc: 'Format of log lines.',
  }),
  dnstap: key(is.orEmpty(is.stream).default(''), {
    restart,
    doc: 'Socket to which every answered query is sent as dnstap, such as unix:/run/dnstap.sock or tcp:192.0.2.1:6000. Empty disables dnstap.',
  }),
});

const oidc = section('Login with OpenID Connect at your own provider.', {
  enabled: key(bool.default(false), { doc: 'Enables the login at /login/oidc. Passwords keep working.' }),
  issuer: key(is.orEmpty(is.issuer).default(''), {
    doc: 'Issuer URL of the provider, as in its discovery document.',
  }),
  client_id: key(is.text.default(''), { doc: 'Client ID of Weir at the provider.' }),
  client_secret: key(is.text.default(''), {
    secret: true,
    doc: 'Client secret. Empty means the one in client_secret_file.',
  }),
  client_secret_file: key(is.orEmpty(is.path).default(''), {
    perNode,
    doc: 'File with the client secret. It is read at each login.',
  }),
  scope: key(is.nonEmpty.default('openid profile email'), { doc: 'Requested scopes.' }),
  user_claim: key(is.nonEmpty.default('sub'), {
    doc: 'Claim that identifies a user. Do not use a claim that users can change themselves.',
  }),
  allowed_users: key(list(is.nonEmpty).default([]), {
    doc: 'Values of user_claim that may log in as a Weir user: "vera", or "7f3a=vera" for a user with another name.',
  }),
  role_claim: key(is.nonEmpty.default('groups'), {
    doc: 'Claim whose values grant a role: a string or a list of strings.',
  }),
  admin_values: key(list(is.nonEmpty).default([]), {
    doc: 'Values of role_claim that grant the role admin.',
  }),
  family_values: key(list(is.nonEmpty).default([]), {
    doc: 'Values of role_claim that grant the role family.',
  }),
  viewer_values: key(list(is.nonEmpty).default([]), {
    doc: 'Values of role_claim that grant the role viewer.',
  }),
});

const auth = section('Access to the dashboard and the API.', {
  enabled: key(bool.default(true), { doc: 'Requires a session or an API token.' }),
  session_ttl_hours: key(int(1, 8760).default(24), { unit: 'hours', doc: 'Lifetime of a session.' }),
  remember_me_days: key(int(1, 3650).default(30), {
    unit: 'days',
    doc: 'Lifetime of a session with “Stay logged in”.',
  }),
  login_rate_limit_attempts: key(int(1, 1000).default(5), {
    unit: 'logins',
    doc: 'Failed logins after which an address is locked out.',
  }),
  login_rate_limit_window_secs: key(int(1, DAY_SECS).default(900), {
    unit: 'seconds',
    doc: 'Duration of the lockout.',
  }),
  admin: section('The administrator.', {
    username: key(is.foldedName.default('admin'), { doc: 'User name of the administrator.' }),
    password_hash: key(is.orEmpty(is.argon2Hash).default(''), {
      perNode,
      secret: true,
      doc: 'Argon2id hash of the password. Empty means the password set with `weir set-password` or in the dashboard.',
    }),
  }),
  oidc,
});

/** Every key of the TOML file; each is checked separately. */
export const keys = section('', { server, database, dns, cache, blocking, logging, auth });
