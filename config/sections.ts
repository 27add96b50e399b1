/**
 * Every key of the configuration: its form, its default, its unit, and one sentence. This table is the
 * one place to add a key; the type `Config`, the checks and the names of the environment variables follow
 * from it, and `npm run check -- config --write` generates `weir.toml` and the dashboard's table. Keys of `[dns]` are in `dns-section.ts`; what holds between keys is
 * in `schema.ts`.
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

const server = section('Where Weir listens, and who it is.', {
  web_port: key(int(0, 65_535).default(8080), {
    restart,
    doc: 'Port of the dashboard and the API; 0 takes a free one.',
  }),
  alt_compat: key(bool.default(false), {
    restart,
    doc: 'Serves the compatibility API at /api and the native API at /svc/api.',
  }),
  dns_port: key(int(1, 65_535).default(53), { restart, doc: 'Port of DNS over UDP and TCP.' }),
  bind_address: key(list(is.ip, 1).default(['0.0.0.0', '::']), {
    restart,
    doc: 'Addresses to listen on, for DNS and for the web.',
  }),
  workers: key(int(0, 256).default(0), {
    restart,
    unit: 'threads',
    doc: 'Workers that answer DNS; 0 is one per core.',
  }),
  node_name: key(is.text.default(''), {
    restart,
    doc: 'Name of this node in a cluster and in the log; empty is the host name.',
  }),
  site: key(is.text.default(''), {
    restart,
    doc: 'Name of the network that this node is in. Which device has which address, nodes learn from those of the same site only.',
  }),
  start_unfiltered: key(bool.default(true), {
    restart,
    doc: 'Whether a node that has no policy 30 s after its start, as with an empty disk and no database, answers unfiltered. Until then, or for as long as it is not, it answers SERVFAIL to other machines.',
  }),
  data_dir: key(is.path.default('./data'), {
    restart,
    doc: 'Folder of the embedded database, the lists and the last snapshot.',
  }),
  trusted_proxies: key(list(is.cidr).default([]), {
    restart,
    doc: 'Networks of reverse proxies whose X-Forwarded-For is believed.',
  }),
  allowed_hosts: key(list(is.domain).default([]), {
    doc: "Names besides addresses, localhost and the node's own under which the web may be asked; under others it answers 421.",
  }),
  proxy_protocol_enabled: key(bool.default(false), {
    restart,
    doc: 'Expects a PROXY protocol v2 header on every connection, of DNS and of the web, from a load balancer that always sends one.',
  }),
  proxy_protocol_trusted: key(list(is.cidr).default([]), {
    restart,
    doc: 'Networks that send the PROXY header, over UDP, too; all others are clients themselves. Empty is every peer, but not over UDP.',
  }),
  metrics_public: key(bool.default(false), {
    doc: 'Lets /metrics be read without authentication.',
  }),
  web_tls: section('HTTPS for the dashboard and the API.', {
    enabled: key(bool.default(false), {
      restart,
      doc: 'Speaks HTTPS on the web port; plain HTTP is redirected. Without files a self-signed certificate is made.',
    }),
    tls_cert_path: key(is.path.default('/data/cert.pem'), {
      restart,
      doc: 'Certificate chain, in PEM; a new file is noticed. Where the default path cannot be written, <data_dir>/tls/cert.pem.',
    }),
    tls_key_path: key(is.path.default('/data/key.pem'), {
      restart,
      doc: 'Private key of the certificate, in PEM, without a passphrase. Where the default path cannot be written, <data_dir>/tls/key.pem.',
    }),
  }),
  encrypted_dns: section('DNS over TLS and over HTTPS for clients.', {
    dot_enabled: key(bool.default(false), { restart, doc: 'Answers DNS over TLS.' }),
    dot_port: key(int(1, 65_535).default(853), { restart, doc: 'Port of DNS over TLS.' }),
    doh_enabled: key(bool.default(false), {
      restart,
      doc: 'Answers DNS over HTTPS at /dns-query, on a port of its own and on the web port.',
    }),
    doh_port: key(int(1, 65_535).default(443), { restart, doc: 'Port of DNS over HTTPS.' }),
    tls_cert_path: key(is.orEmpty(is.path).default(''), {
      restart,
      doc: 'Certificate chain of encrypted DNS, in PEM; empty is that of the web.',
    }),
    tls_key_path: key(is.orEmpty(is.path).default(''), {
      restart,
      doc: 'Private key of encrypted DNS, in PEM; empty is that of the web.',
    }),
  }),
});

const database = section('Where PostgreSQL is, and what is kept in it.', {
  url: key(is.postgresUrls.default([]), {
    perNode,
    restart,
    secret: true,
    doc: 'URL of a PostgreSQL server, or several of which the first that accepts writes is used; empty is the embedded one.',
  }),
  owner_url: key(is.postgresUrls.default([]), {
    perNode,
    restart,
    secret: true,
    doc: 'URL of the role that owns the tables, for each one of url in its order: Weir migrates with it, and queries run as the role of url. Empty is the role of url for both.',
  }),
  password_file: key(is.orEmpty(is.path).default(''), {
    perNode,
    restart,
    doc: 'File whose first line is the password of the role of url, closed to other users; it is read for each connection. Empty is the password in url.',
  }),
  owner_password_file: key(is.orEmpty(is.path).default(''), {
    perNode,
    restart,
    doc: 'The same for the role of owner_url.',
  }),
  sslmode: key(z.enum(['', ...SSL_MODES]).default(''), {
    perNode,
    restart,
    doc: 'TLS to the servers, as libpq has it: require encrypts, verify-ca also checks the authority, verify-full also the name. A URL with sslmode goes before; empty is verify-full with sslrootcert, else PGSSLMODE of the environment, else disable.',
  }),
  sslrootcert: key(is.orEmpty(is.path).default(''), {
    perNode,
    restart,
    doc: 'Certificates of the authorities that sign those of the servers, in PEM; they are read at each connection to another server. system is those of this machine, empty those that come with Node.js.',
  }),
  log_queries: key(bool.default(true), { doc: 'Keeps every query in the query log.' }),
  query_log_days: key(int(1, 3650).default(30), { unit: 'days', doc: 'How long the query log is kept.' }),
  query_log_privacy: key(z.enum(['full', 'no_answers', 'anonymous_clients', 'off']).default('full'), {
    doc: 'How much of a query is kept: all, all but the answers, no client addresses, or nothing.',
  }),
  log_pressure: key(z.enum(LOG_PRESSURES).default('slow'), {
    doc: 'If the log falls behind because the CPU is busy, slow delays answers by up to 10 ms before rows are lost, and drop loses rows at once. A slow or absent database never delays answers.',
  }),
  log_excluded_domains: key(list(is.domain).default([]), {
    doc: 'Domains that are not logged, subdomains included: no row, live view, export or dnstap. Statistics count them by the minute, unless stats_excluded_domains has them also.',
  }),
  stats_excluded_domains: key(list(is.domain).default([]), {
    doc: 'Domains that no statistics count, subdomains included. The query log has them, unless log_excluded_domains has them also.',
  }),
  export_dir: key(is.orEmpty(is.path).default(''), {
    perNode,
    doc: 'Folder that each finished day of the query log is written to, as a Parquet file; empty is off.',
  }),
  rollup_days: key(int(1, 36_500).default(400), {
    unit: 'days',
    doc: 'How long the counts of statistics and the lists of names and clients are kept.',
  }),
  audit_days: key(int(1, 36_500).default(400), {
    unit: 'days',
    doc: 'How long the audit log is kept: who changed what.',
  }),
});

const cache = section('Answers that are kept.', {
  enabled: key(bool.default(true), { doc: 'Keeps answers and gives them again while they live.' }),
  max_bytes: key(int(MIB, 1024 * 1024 * MIB).default(64 * MIB), {
    perNode,
    restart,
    unit: 'bytes',
    doc: 'Memory of the cache.',
  }),
  min_ttl_secs: key(int(0, DAY_SECS).default(0), {
    unit: 'seconds',
    doc: 'Answers live at least so long, but for those that there is nothing.',
  }),
  max_ttl_secs: key(int(1, YEAR_SECS).default(DAY_SECS), {
    unit: 'seconds',
    doc: 'Answers live at most so long.',
  }),
  negative_max_ttl_secs: key(int(0, DAY_SECS).default(3600), {
    unit: 'seconds',
    doc: 'Answers that there is nothing live at most so long, here and at the clients.',
  }),
  serve_stale_secs: key(int(0, YEAR_SECS).default(DAY_SECS), {
    unit: 'seconds',
    doc: 'How long an answer may be served after its end while no upstream answers (RFC 8767).',
  }),
  persist: key(bool.default(false), {
    doc: 'Keeps the answers on disk while Weir is stopped; what has ended by the next start is left out.',
  }),
  optimistic_refresh: key(bool.default(true), {
    doc: 'Asks again for popular names shortly before their answers end.',
  }),
});

const blocking = section('What a blocked client sees, and where lists come from.', {
  enabled: key(bool.default(true), { doc: 'Master switch of blocking.' }),
  mode: key(z.enum(['null_ip', 'nxdomain', 'nodata', 'refused', 'custom_ip']).default('null_ip'), {
    doc: 'Answer to a blocked question: 0.0.0.0 and ::, NXDOMAIN, an empty answer, REFUSED, or the addresses below.',
  }),
  ttl_secs: key(int(0, DAY_SECS).default(10), {
    unit: 'seconds',
    doc: 'TTL of the answer to a blocked question.',
  }),
  custom_ipv4: key(is.orEmpty(is.ipv4).default(''), {
    doc: 'IPv4 address of the mode custom_ip; without one, A is answered with no data.',
  }),
  custom_ipv6: key(is.orEmpty(is.ipv6).default(''), {
    doc: 'IPv6 address of the mode custom_ip; without one, AAAA is answered with no data.',
  }),
  list_refresh_hours: key(int(1, 8760).default(24), {
    unit: 'hours',
    doc: 'Time between two downloads of a list.',
  }),
  catalog_url: key(
    is.orEmpty(is.webUrl).default('https://adguardteam.github.io/HostlistsRegistry/assets/services.json'),
    {
      doc: "URL of a service catalog, Weir's own or AdGuard's registry, which adds to the one that comes with Weir; empty is that one alone.",
    },
  ),
  catalog_refresh_hours: key(int(1, 8760).default(24), {
    unit: 'hours',
    doc: 'Time between two downloads of the catalog.',
  }),
  list_dirs: key(list(is.path).default(['<data_dir>/lists']), {
    perNode,
    doc: 'Folders that lists given as file: may lie in; <data_dir> stands for server.data_dir.',
  }),
});

const logging = section("Weir's own log, on standard error.", {
  level: key(z.enum(['error', 'warn', 'info', 'debug']).default('info'), {
    doc: 'Lines of this weight and above are written.',
  }),
  format: key(z.enum(['json', 'text']).default('text'), {
    doc: 'One JSON object a line, or text for people.',
  }),
  dnstap: key(is.orEmpty(is.stream).default(''), {
    restart,
    doc: 'Where each answered query is streamed to as dnstap, such as unix:/run/dnstap.sock or tcp:192.0.2.1:6000; empty is off.',
  }),
});

const oidc = section('Login with OpenID Connect: at a provider of yours instead of with a password here.', {
  enabled: key(bool.default(false), { doc: 'Offers the login at /login/oidc. Passwords go on working.' }),
  issuer: key(is.orEmpty(is.issuer).default(''), {
    doc: 'URL of the provider, as its discovery document names it.',
  }),
  client_id: key(is.text.default(''), { doc: 'Name under which the provider knows Weir.' }),
  client_secret: key(is.text.default(''), {
    secret: true,
    doc: 'Secret of this client; empty is the one in client_secret_file.',
  }),
  client_secret_file: key(is.orEmpty(is.path).default(''), {
    perNode,
    doc: 'File with the secret of this client; it is read at each login.',
  }),
  scope: key(is.nonEmpty.default('openid profile email'), { doc: 'What is asked of the provider.' }),
  user_claim: key(is.nonEmpty.default('sub'), {
    doc: 'Claim that names a person; choose none that people may change themselves.',
  }),
  allowed_users: key(list(is.nonEmpty).default([]), {
    doc: 'Persons who log in as a user of Weir, by the value of user_claim: "vera", or "7f3a=vera" for another name here.',
  }),
  role_claim: key(is.nonEmpty.default('groups'), {
    doc: 'Claim whose values may give a role: one text, or a list of texts.',
  }),
  admin_values: key(list(is.nonEmpty).default([]), { doc: 'Values of role_claim that make an admin.' }),
  viewer_values: key(list(is.nonEmpty).default([]), { doc: 'Values of role_claim that make a viewer.' }),
});

const auth = section('Who may use the dashboard and the API.', {
  enabled: key(bool.default(true), { doc: 'Asks for a session or an API token.' }),
  session_ttl_hours: key(int(1, 8760).default(24), { unit: 'hours', doc: 'Life of a session.' }),
  remember_me_days: key(int(1, 3650).default(30), {
    unit: 'days',
    doc: 'Life of a session with remember-me.',
  }),
  login_rate_limit_attempts: key(int(1, 1000).default(5), {
    unit: 'logins',
    doc: 'Failed logins before the login is locked.',
  }),
  login_rate_limit_window_secs: key(int(1, DAY_SECS).default(900), {
    unit: 'seconds',
    doc: 'How long the login stays locked.',
  }),
  admin: section('The administrator.', {
    username: key(is.nonEmpty.default('admin'), { doc: 'User name of the administrator.' }),
    password_hash: key(is.orEmpty(is.argon2Hash).default(''), {
      perNode,
      secret: true,
      doc: 'Argon2id hash of the password; empty is the one set with `weir set-password` or in the web.',
    }),
  }),
  oidc,
});

/** Every key of the TOML file, each checked by itself. */
export const keys = section('', { server, database, dns, cache, blocking, logging, auth });
