/** Keys of the section `[dns]`. The other sections are in `sections.ts`. */
import { z } from 'zod';
import { HARDENING_MODES } from '../shared/policy/hardening-settings.ts';
import { bool, int, key, list, section } from './keys.ts';
import { upstream } from './upstream-url.ts';
import * as is from './value-checks.ts';

/** Strategies by which queries are distributed over the servers of a pool. */
const STRATEGIES = ['Parallel', 'Failover', 'Balanced', 'Fastest'] as const;

const DAY_SECS = 86_400;
const perNode = true;

const pool = section('A pool of upstream servers; the pool with the lowest priority number is asked first.', {
  name: key(is.nonEmptyName.clone(), { doc: 'Name of the pool, in the log and the API.' }),
  strategy: key(z.enum(STRATEGIES).optional(), {
    doc: 'How queries are distributed over the servers. The default is dns.default_strategy.',
  }),
  priority: key(int(0, 1000).default(1), { doc: 'Order of the pools: the lowest number is asked first.' }),
  servers: key(list(upstream, 1), {
    doc: 'Servers: udp://, tcp://, tls://host[@ip[:port]], https://host/dns-query (ending in {?dns}: with GET), or a bare address (UDP).',
  }),
});

// Two operators with separate anycast networks. Neither of them filters, so every blocked name was blocked by Weir and
// is marked in its log. Both are queried at the same time, so the faster one is used, and one may fail. Quad9 filters
// malware itself, so it is only used if the other two are unreachable.
const DEFAULT_POOLS = [
  { name: 'default', priority: 1, servers: ['udp://1.1.1.1', 'udp://8.8.8.8'] },
  { name: 'fallback', priority: 2, servers: ['udp://9.9.9.9'] },
];

const RATE_LIMIT =
  'Each client network has two token buckets of the same size: one for UDP, and one for clients with a proven address (TCP, or a DNS cookie). The log has one row per client network and second for limited queries, with their count.';

/** Settings for answering and forwarding queries. */
export const dns = section('How queries are answered and forwarded.', {
  query_timeout_ms: key(int(100, 60_000).default(3000), {
    unit: 'milliseconds',
    doc: 'Maximum time to resolve a query.',
  }),
  default_strategy: key(z.enum(STRATEGIES).default('Parallel'), {
    doc: 'Strategy of pools without their own.',
  }),
  dnssec_enabled: key(bool.default(false), {
    doc: 'Validates responses of upstream servers with DNSSEC.',
  }),
  dnssec_trust_anchors: key(is.orEmpty(is.path).default(''), {
    perNode,
    doc: 'File with trust anchors (DS or DNSKEY records). Empty means the built-in root anchors.',
  }),
  dnssec_anchor_updates: key(z.enum(['builtin', 'all', 'off']).default('builtin'), {
    doc: 'Trust anchors that follow key rollovers (RFC 5011): the built-in root anchors, all anchors, or none.',
  }),
  dnssec_negative_trust_anchors: key(list(is.domain).default([]), {
    doc: 'Domains that are not validated.',
  }),
  chaos_clients: key(list(is.cidr).default(['127.0.0.0/8', '::1/128']), {
    doc: 'Client networks that may query version.bind, hostname.bind, id.server, status.weir and local.api.ftl (class CHAOS). Others are refused.',
  }),
  allowed_clients: key(list(is.allowedClient).default(['private', 'connected']), {
    doc: 'Clients that may use this server: networks, private (all private and link-local addresses), connected (the networks of this machine), or any. Others are refused, except clients with a random client key (13 letters and digits, or 16 hexadecimal digits).',
  }),
  blocked_clients: key(list(is.blockedClient).default([]), {
    doc: 'Networks, MAC addresses and client keys that are always refused.',
  }),
  refuse_silently: key(bool.default(false), {
    doc: 'Sends no answer to refused clients. Otherwise they get REFUSED, a few times per second for each network.',
  }),
  health_check_names: key(list(is.domain).default([]), {
    doc: 'Names that load balancers query to check this server. Like queries of class CHAOS, they are neither logged nor counted.',
  }),
  block_private_ptr: key(bool.default(true), {
    doc: 'Answers NXDOMAIN to PTR queries for private IPv4 addresses (RFC 1918) without a local record.',
  }),
  block_non_fqdn: key(bool.default(false), {
    doc: 'Answers NXDOMAIN to queries for single-label names.',
  }),
  special_names: key(bool.default(true), {
    doc: 'Answers reserved names itself: localhost, local, home.arpa, test, invalid, onion, resolver.arpa.',
  }),
  block_doh_canary: key(bool.default(true), {
    doc: 'Answers NXDOMAIN for use-application-dns.net, so that Firefox keeps using this server.',
  }),
  block_private_relay: key(bool.default(true), {
    doc: 'Answers NXDOMAIN for the names of iCloud Private Relay, so that Apple devices keep using this server.',
  }),
  local_records: key(list(is.localRecord).default([]), {
    doc: 'Local records, each as "name [ttl] type value". The dashboard can add more.',
  }),
  never_forward_non_fqdn: key(bool.default(false), {
    doc: 'Never forwards single-label names. Local records and forward zones still answer.',
  }),
  never_forward_reverse_lookups: key(bool.default(false), {
    doc: 'Never forwards reverse lookups. Local records and forward zones still answer.',
  }),
  local_domain: key(is.orEmpty(is.domain).default(''), { doc: 'Domain of the local network.' }),
  local_dns_server: key(is.orEmpty(is.hostPort).default(''), {
    doc: 'DNS server (host:port) of the local domain and of reverse names of private addresses.',
  }),
  dhcp_leases: key(list(is.path).default([]), {
    perNode,
    doc: 'Lease files of DHCP servers (dnsmasq or ISC dhcpd) with names of clients. Weir rereads them when they change.',
  }),
  rebinding_protection: key(bool.default(true), {
    doc: 'Rejects private, multicast and carrier-grade NAT (100.64/10) addresses in answers for public names.',
  }),
  rebinding_allowlist: key(list(is.domain).default([]), {
    doc: 'Domains whose answers may contain private addresses, such as DNS blocklists (127.0.0.x) or ts.net (Tailscale).',
  }),
  bootstrap: key(list(is.resolver).default(['1.1.1.1', '8.8.8.8', '9.9.9.9']), {
    doc: 'Resolvers (address, optionally with port) that look up upstream servers given by name.',
  }),
  upstream_ca_path: key(is.orEmpty(is.path).default(''), {
    perNode,
    doc: 'Additional certificate authorities (PEM) for tls:// and https:// upstreams. Empty means only those of the system.',
  }),
  ecs: key(z.enum(['strip', 'forward']).default('strip'), {
    doc:
      'Client subnets (RFC 7871) in queries: strip removes them, forward sends them to the upstream ' +
      'server. Responses for a subnet are not cached.',
  }),
  cookies: key(z.enum(HARDENING_MODES).default('auto'), {
    doc:
      'DNS cookies (RFC 7873) in queries to UDP upstreams: auto uses them with public servers that ' +
      'support them, on with every server, off with none.',
  }),
  case_randomization: key(z.enum(HARDENING_MODES).default('auto'), {
    doc: 'Random letter case in names sent to UDP upstreams: auto uses it with public servers that support it, on with every server, off with none.',
  }),
  udp_coalesce_us: key(int(0, 1000).default(150), {
    unit: 'microseconds',
    doc: 'How long a thread with more than 10,000 queries per second may wait for a fuller batch. Saves CPU and adds latency. 0 disables waiting.',
  }),
  pools: key(list(pool, 1, 'at least one table').default(DEFAULT_POOLS), {
    doc: 'Upstream servers: public resolvers (Cloudflare and Google, and Quad9 if neither can be reached).',
  }),
  health_check: section('Probes of the upstream servers.', {
    enabled: key(bool.default(true), {
      doc: 'Probes every upstream server, so that dead servers are not asked.',
    }),
    interval_secs: key(int(1, 3600).default(30), {
      unit: 'seconds',
      doc: 'Interval between probes of a server.',
    }),
    timeout_ms: key(int(50, 60_000).default(2000), {
      unit: 'milliseconds',
      doc: 'Timeout of a probe.',
    }),
    failure_threshold: key(int(1, 100).default(3), {
      unit: 'probes',
      doc: 'Consecutive failures after which a server is unhealthy.',
    }),
    success_threshold: key(int(1, 100).default(2), {
      unit: 'probes',
      doc: 'Consecutive successes after which a server is healthy again.',
    }),
  }),
  rate_limit: section(RATE_LIMIT, {
    enabled: key(bool.default(false), { doc: 'Limits the queries of each client network.' }),
    queries_per_second: key(int(1, 10_000_000).default(1000), {
      unit: 'queries per second',
      doc: 'Refill rate of a bucket.',
    }),
    burst_size: key(int(1, 10_000_000).default(500), { unit: 'questions', doc: 'Capacity of a bucket.' }),
    ipv4_prefix_len: key(int(1, 32).default(24), {
      unit: 'bits',
      doc: 'Prefix length of a client network, IPv4. Client networks of this size also get fair shares of the resolver, even if the limit is disabled.',
    }),
    ipv6_prefix_len: key(int(1, 128).default(48), {
      unit: 'bits',
      doc: 'Prefix length of a client network, IPv6.',
    }),
    whitelist: key(list(is.cidr).default([]), { doc: 'Networks that are never limited.' }),
    nxdomain_per_second: key(int(1, 10_000_000).default(50), {
      unit: 'answers per second',
      doc: 'Maximum NXDOMAIN answers to a client network, including those created by Weir.',
    }),
    slip_ratio: key(int(0, 1000).default(0), {
      unit: 'answers',
      doc: 'Truncates every Nth limited UDP answer instead of refusing it. 0 disables this.',
    }),
    dry_run: key(bool.default(false), { doc: 'Only logs queries that would be limited, and answers them.' }),
    stale_entry_ttl_secs: key(int(1, DAY_SECS).default(300), {
      unit: 'seconds',
      doc: 'Kept for compatibility, without effect: buckets have a fixed size and need no eviction.',
    }),
    tcp_max_connections_per_ip: key(int(0, 65_535).default(30), {
      unit: 'connections',
      doc: 'Maximum TCP connections per client address. 0 disables the limit.',
    }),
    dot_max_connections_per_ip: key(int(0, 65_535).default(15), {
      unit: 'connections',
      doc: 'Maximum DoT connections, and maximum DoH connections, per client address. 0 disables the limit.',
    }),
  }),
});
