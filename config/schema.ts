/**
 * Every key of the configuration: its type, its default, its unit, and one sentence. This table is the
 * one place to add a key; the type `Config`, the checks and the names of the environment variables follow
 * from it, and a test holds `weir.toml` to it. Rules between two keys are in `key-rules.ts`.
 */
import { bool, choice, int, list, section, tables, text, urls } from './key-kinds.ts';
import type { KeyNotes, ValueOf } from './key-kinds.ts';
import { upstream } from './upstream-url.ts';
import * as is from './value-checks.ts';

/** The ways in which a pool spreads its questions over its servers. */
export const STRATEGIES = ['Parallel', 'Failover', 'Balanced', 'Fastest'] as const;

const MIB = 1024 * 1024;
const DAY_SECS = 86_400;
const YEAR_SECS = 365 * DAY_SECS;
const restart = true;

/** Notes of a key whose part of Weir is not there yet. */
function notYet(notes: KeyNotes): KeyNotes {
  return { ...notes, doc: `${notes.doc} Not yet: has no effect in this version.`, isNotYet: true };
}

const server = section('Where Weir listens, and who it is.', {
  web_port: int(8080, 0, 65_535, { restart, doc: 'Port of the dashboard and the API; 0 takes a free one.' }),
  alt_compat: bool(false, {
    restart,
    doc: 'Serves the compatibility API at /api and the native API at /svc/api.',
  }),
  dns_port: int(53, 1, 65_535, { restart, doc: 'Port of DNS over UDP and TCP.' }),
  bind_address: list(
    ['0.0.0.0', '::'],
    { restart, minEntries: 1, doc: 'Addresses to listen on, for DNS and for the web.' },
    is.ip,
  ),
  workers: int(0, 0, 256, { restart, unit: 'threads', doc: 'Workers that answer DNS; 0 is one per core.' }),
  node_name: text('', {
    restart,
    doc: 'Name of this node in a cluster and in the log; empty is the host name.',
  }),
  data_dir: text(
    './data',
    { restart, doc: 'Folder of the embedded database, the lists and the last snapshot.' },
    is.path,
  ),
  trusted_proxies: list(
    [],
    { restart, doc: 'Networks of reverse proxies whose X-Forwarded-For is believed.' },
    is.cidr,
  ),
  allowed_hosts: list(
    [],
    {
      doc: "Names besides addresses, localhost and the node's own under which the web may be asked; under others it answers 421.",
    },
    is.domain,
  ),
  proxy_protocol_enabled: bool(
    false,
    notYet({
      restart,
      doc: 'Expects a PROXY protocol v2 header on every TCP and DoT connection, from a load balancer that always sends one.',
    }),
  ),
  proxy_protocol_trusted: list(
    [],
    notYet({ restart, doc: 'Networks that may send the PROXY header; others are refused.' }),
    is.cidr,
  ),
  metrics_public: bool(false, notYet({ restart, doc: 'Lets /metrics be read without authentication.' })),
  web_tls: section('HTTPS for the dashboard and the API.', {
    enabled: bool(false, { restart, doc: 'Speaks HTTPS on the web port; plain HTTP is redirected.' }),
    tls_cert_path: text('/data/cert.pem', { restart, doc: 'Certificate chain, in PEM.' }, is.path),
    tls_key_path: text('/data/key.pem', { restart, doc: 'Private key of the certificate, in PEM.' }, is.path),
  }),
  encrypted_dns: section('DNS over TLS and over HTTPS for clients.', {
    dot_enabled: bool(false, notYet({ restart, doc: 'Answers DNS over TLS.' })),
    dot_port: int(853, 1, 65_535, notYet({ restart, doc: 'Port of DNS over TLS.' })),
    doh_enabled: bool(
      false,
      notYet({ restart, doc: 'Answers DNS over HTTPS at /dns-query on the web port.' }),
    ),
    tls_cert_path: text(
      '',
      notYet({ restart, doc: 'Certificate chain of DoT, in PEM; empty is that of the web.' }),
      is.orEmpty(is.path),
    ),
    tls_key_path: text(
      '',
      notYet({ restart, doc: 'Private key of DoT, in PEM; empty is that of the web.' }),
      is.orEmpty(is.path),
    ),
  }),
});

const database = section('Where PostgreSQL is, and what is kept in it.', {
  url: urls(
    {
      restart,
      secret: true,
      doc: 'URL of a PostgreSQL server, or several of which the first that accepts writes is used; empty is the embedded one.',
    },
    is.postgresUrl,
  ),
  log_queries: bool(true, { doc: 'Keeps every query in the query log.' }),
  query_log_days: int(30, 1, 3650, { unit: 'days', doc: 'How long the query log is kept.' }),
  query_log_privacy: choice(['full', 'no_answers', 'anonymous_clients', 'off'], 'full', {
    doc: 'How much of a query is kept: all, all but the answers, no client addresses, or nothing.',
  }),
  rollup_days: int(400, 1, 36_500, notYet({ unit: 'days', doc: 'How long the counts per hour are kept.' })),
});

const pools = tables(
  // Two operators with anycast networks of their own, neither of which filters, so that what is blocked is
  // Weir's doing and shows in Weir's log; asked together, the faster one answers and neither is needed.
  // Quad9 filters malware by itself, so it only helps out when both are out of reach.
  [
    { name: 'default', strategy: 'Parallel', priority: 1, servers: ['udp://1.1.1.1', 'udp://8.8.8.8'] },
    { name: 'fallback', strategy: 'Parallel', priority: 2, servers: ['udp://9.9.9.9'] },
  ],
  { doc: 'Upstream servers: public resolvers (Cloudflare and Google; Quad9 where neither is in reach).' },
  section('A pool of upstream servers; the pool with the lowest priority is asked first.', {
    name: text('', { required: true, doc: 'Name of the pool, in the log and the API.' }, is.nonEmpty),
    strategy: choice(STRATEGIES, 'Parallel', {
      doc: 'How the servers of the pool share the questions; dns.default_strategy where not given.',
    }),
    priority: int(1, 0, 1000, { doc: 'Pools are asked in this order, lower first.' }),
    servers: list(
      [],
      {
        required: true,
        minEntries: 1,
        doc: 'Servers: udp://, tcp://, tls://host[@ip], https://host/dns-query (ending in {?dns}: with GET), or a bare address (UDP).',
      },
      upstream,
    ),
  }),
);

const dns = section('How questions are answered and forwarded.', {
  query_timeout_ms: int(3000, 100, 60_000, {
    unit: 'milliseconds',
    doc: 'Time one question may take in all.',
  }),
  udp_coalesce_us: int(0, 0, 1000, {
    restart,
    unit: 'microseconds',
    doc: 'Time that a thread with more than 10,000 queries a second may wait for a fuller batch: less CPU, more latency; 0 never waits.',
  }),
  default_strategy: choice(STRATEGIES, 'Parallel', { doc: 'Strategy of pools that name none.' }),
  dnssec_enabled: bool(false, { restart, doc: 'Validates the DNSSEC signatures of what upstreams answer.' }),
  dnssec_trust_anchors: text(
    '',
    { restart, doc: 'File of DS or DNSKEY records to trust; empty is the built-in ones of the root.' },
    is.orEmpty(is.path),
  ),
  dnssec_anchor_updates: choice(['builtin', 'all', 'off'], 'builtin', {
    restart,
    doc: 'Zones whose trust anchors follow key rollovers (RFC 5011): the built-in root, or that of the file too.',
  }),
  dnssec_negative_trust_anchors: list([], { restart, doc: 'Domains that are not validated.' }, is.domain),
  block_private_ptr: bool(true, {
    doc: 'Answers PTR questions for private addresses that are no local record with NXDOMAIN.',
  }),
  block_non_fqdn: bool(false, { doc: 'Answers questions for names of a single label with NXDOMAIN.' }),
  special_names: bool(true, {
    doc: 'Answers reserved names itself: localhost, local, home.arpa, test, invalid, onion, resolver.arpa.',
  }),
  block_doh_canary: bool(true, {
    doc: 'Answers use-application-dns.net with NXDOMAIN, so that Firefox stays with this server.',
  }),
  block_private_relay: bool(true, {
    doc: "Answers the names of iCloud Private Relay with NXDOMAIN, so that Apple's devices stay with this server.",
  }),
  local_records: list(
    [],
    { doc: 'Names answered here, one a line of "name [ttl] type value"; more of them in the dashboard.' },
    is.localRecord,
  ),
  never_forward_non_fqdn: bool(false, {
    doc: 'Asks nobody for names of a single label; local records and forward zones still answer.',
  }),
  never_forward_reverse_lookups: bool(false, {
    doc: 'Asks nobody for the names of addresses; local records and forward zones still answer.',
  }),
  local_domain: text('', { doc: 'Domain of the local network.' }, is.orEmpty(is.domain)),
  local_dns_server: text(
    '',
    { doc: 'Server (host:port) that knows the local domain and the private addresses.' },
    is.orEmpty(is.hostPort),
  ),
  dhcp_leases: list(
    [],
    {
      doc: 'Lease files of DHCP servers (dnsmasq or ISC dhcpd) that name clients; read again when they change.',
    },
    is.path,
  ),
  rebinding_protection: bool(true, { doc: 'Refuses private addresses in the answers of public names.' }),
  rebinding_allowlist: list([], { doc: 'Domains that may answer with private addresses.' }, is.domain),
  bootstrap: list(
    ['1.1.1.1', '8.8.8.8', '9.9.9.9'],
    { doc: 'Resolvers (address with or without port) that find upstreams given by name.' },
    is.resolver,
  ),
  upstream_ca_path: text(
    '',
    {
      doc: "Certificates (PEM) of authorities that tls:// and https:// upstreams may be signed by, beside the system's; empty is none.",
    },
    is.orEmpty(is.path),
  ),
  ecs: choice(['strip', 'forward'], 'strip', {
    doc: 'Client subnets (RFC 7871) in questions: taken out, or handed to the upstream; what it answers for a subnet is not cached.',
  }),
  pools,
  health_check: section('Probes of the upstream servers.', {
    enabled: bool(true, { doc: 'Probes every upstream server, so that a dead one is not asked.' }),
    interval_secs: int(30, 1, 3600, { unit: 'seconds', doc: 'Time between two probes of a server.' }),
    timeout_ms: int(2000, 50, 60_000, { unit: 'milliseconds', doc: 'Time after which a probe has failed.' }),
    failure_threshold: int(3, 1, 100, {
      unit: 'probes',
      doc: 'Failures in a row that make a server unhealthy.',
    }),
    success_threshold: int(2, 1, 100, {
      unit: 'probes',
      doc: 'Answers in a row that make it healthy again.',
    }),
  }),
  rate_limit: section(
    'Token buckets of each client network: one for questions over UDP, and one of the same size for those that prove their address, over TCP or by a DNS cookie.',
    {
      enabled: bool(false, { doc: 'Limits the questions of a client network.' }),
      queries_per_second: int(1000, 1, 10_000_000, {
        unit: 'questions per second',
        doc: 'Refill of a bucket.',
      }),
      burst_size: int(500, 1, 10_000_000, { unit: 'questions', doc: 'Capacity of a bucket.' }),
      ipv4_prefix_len: int(24, 1, 32, {
        unit: 'bits',
        doc: 'Size of a client network, IPv4; networks also share the resolver, with the limit off too.',
      }),
      ipv6_prefix_len: int(48, 1, 128, { unit: 'bits', doc: 'The same for IPv6.' }),
      whitelist: list([], { doc: 'Networks that are never limited.' }, is.cidr),
      nxdomain_per_second: int(50, 1, 10_000_000, {
        unit: 'answers per second',
        doc: 'Budget of NXDOMAIN answers of a client network.',
      }),
      slip_ratio: int(0, 0, 1000, {
        unit: 'answers',
        doc: 'Every Nth limited UDP answer is truncated instead of refused; 0 is never.',
      }),
      dry_run: bool(false, { doc: 'Logs what would be limited and answers it all the same.' }),
      stale_entry_ttl_secs: int(300, 1, DAY_SECS, {
        unit: 'seconds',
        doc: 'Idle time after which a bucket may be evicted. Weir never has to: a bucket is one number in a table of fixed size, and an idle one is full again.',
      }),
      tcp_max_connections_per_ip: int(30, 0, 65_535, {
        unit: 'connections',
        doc: 'TCP connections of one client address; 0 is no limit.',
      }),
      dot_max_connections_per_ip: int(
        15,
        0,
        65_535,
        notYet({
          unit: 'connections',
          doc: 'DoT connections of one client address; 0 is no limit.',
        }),
      ),
    },
  ),
});

const cache = section('Answers that are kept.', {
  enabled: bool(true, { doc: 'Keeps answers and gives them again while they live.' }),
  max_bytes: int(64 * MIB, MIB, 1024 * 1024 * MIB, { unit: 'bytes', doc: 'Memory of the cache.' }),
  min_ttl_secs: int(0, 0, DAY_SECS, {
    unit: 'seconds',
    doc: 'Answers live at least so long, but for those that there is nothing.',
  }),
  max_ttl_secs: int(DAY_SECS, 1, YEAR_SECS, { unit: 'seconds', doc: 'Answers live at most so long.' }),
  negative_max_ttl_secs: int(3600, 0, DAY_SECS, {
    unit: 'seconds',
    doc: 'Answers that there is nothing live at most so long, here and at the clients.',
  }),
  serve_stale_secs: int(DAY_SECS, 0, YEAR_SECS, {
    unit: 'seconds',
    doc: 'How long an answer may be served after its end while no upstream answers (RFC 8767).',
  }),
  persist: bool(false, {
    restart,
    doc: 'Keeps the answers on disk while Weir is stopped; what has ended by the next start is left out.',
  }),
  optimistic_refresh: bool(true, { doc: 'Asks again for popular names shortly before their answers end.' }),
});

const blocking = section('What a blocked client sees, and where lists come from.', {
  enabled: bool(true, { doc: 'Master switch of blocking.' }),
  mode: choice(['null_ip', 'nxdomain', 'nodata', 'refused', 'custom_ip'], 'null_ip', {
    doc: 'Answer to a blocked question: 0.0.0.0 and ::, NXDOMAIN, an empty answer, REFUSED, or the addresses below.',
  }),
  ttl_secs: int(10, 0, DAY_SECS, { unit: 'seconds', doc: 'TTL of the answer to a blocked question.' }),
  custom_ipv4: text(
    '',
    { doc: 'IPv4 address of the mode custom_ip; without one, A is answered with no data.' },
    is.orEmpty(is.ipOfFamily(4)),
  ),
  custom_ipv6: text(
    '',
    { doc: 'IPv6 address of the mode custom_ip; without one, AAAA is answered with no data.' },
    is.orEmpty(is.ipOfFamily(6)),
  ),
  list_refresh_hours: int(24, 1, 8760, { unit: 'hours', doc: 'Time between two downloads of a list.' }),
  catalog_url: text(
    'https://adguardteam.github.io/HostlistsRegistry/assets/services.json',
    {
      doc: "URL of a service catalog, Weir's own or AdGuard's registry, which adds to the one that comes with Weir; empty is that one alone.",
    },
    is.orEmpty(is.webUrl),
  ),
  catalog_refresh_hours: int(24, 1, 8760, {
    unit: 'hours',
    doc: 'Time between two downloads of the catalog.',
  }),
  list_dirs: list(
    ['<data_dir>/lists'],
    { doc: 'Folders that lists given as file: may lie in; <data_dir> stands for server.data_dir.' },
    is.path,
  ),
});

const logging = section("Weir's own log, on standard error.", {
  level: choice(['error', 'warn', 'info', 'debug'], 'info', {
    doc: 'Lines of this weight and above are written.',
  }),
  format: choice(['json', 'text'], 'text', { doc: 'One JSON object a line, or text for people.' }),
});

const auth = section('Who may use the dashboard and the API.', {
  enabled: bool(true, { doc: 'Asks for a session or an API token.' }),
  session_ttl_hours: int(24, 1, 8760, { unit: 'hours', doc: 'Life of a session.' }),
  remember_me_days: int(30, 1, 3650, { unit: 'days', doc: 'Life of a session with remember-me.' }),
  login_rate_limit_attempts: int(5, 1, 1000, {
    unit: 'logins',
    doc: 'Failed logins before the login is locked.',
  }),
  login_rate_limit_window_secs: int(900, 1, DAY_SECS, {
    unit: 'seconds',
    doc: 'How long the login stays locked.',
  }),
  admin: section('The administrator.', {
    username: text('admin', { doc: 'User name of the administrator.' }, is.nonEmpty),
    password_hash: text(
      '',
      {
        secret: true,
        doc: 'Argon2id hash of the password; empty is the one set with `weir set-password` or in the web.',
      },
      is.orEmpty(is.argon2Hash),
    ),
  }),
});

/** The whole configuration, described. */
export const schema = section('Weir', { server, database, dns, cache, blocking, logging, auth });

/** The whole configuration, as values; its keys are those of the TOML file. */
export type Config = ValueOf<typeof schema>;
