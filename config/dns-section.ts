/** Keys of `[dns]`: how questions are answered and forwarded. The other sections are in `sections.ts`. */
import { z } from 'zod';
import { HARDENING_MODES } from '../shared/policy/hardening-settings.ts';
import { bool, int, key, list, section } from './keys.ts';
import { upstream } from './upstream-url.ts';
import * as is from './value-checks.ts';

/** The ways in which a pool spreads its questions over its servers. */
const STRATEGIES = ['Parallel', 'Failover', 'Balanced', 'Fastest'] as const;

const DAY_SECS = 86_400;
const perNode = true;

const pool = section('A pool of upstream servers; the pool with the lowest priority is asked first.', {
  name: key(is.nonEmpty.clone(), { doc: 'Name of the pool, in the log and the API.' }),
  strategy: key(z.enum(STRATEGIES).optional(), {
    doc: 'How the servers of the pool share the questions; dns.default_strategy if absent.',
  }),
  priority: key(int(0, 1000).default(1), { doc: 'Pools are asked in this order, lower first.' }),
  servers: key(list(upstream, 1), {
    doc: 'Servers: udp://, tcp://, tls://host[@ip[:port]], https://host/dns-query (ending in {?dns}: with GET), or a bare address (UDP).',
  }),
});

// Two operators with anycast networks of their own, neither of which filters, so that what is blocked is
// Weir's doing and shows in Weir's log; asked together, the faster one answers and neither is needed.
// Quad9 filters malware by itself, so it only helps out when both are out of reach.
const DEFAULT_POOLS = [
  { name: 'default', priority: 1, servers: ['udp://1.1.1.1', 'udp://8.8.8.8'] },
  { name: 'fallback', priority: 2, servers: ['udp://9.9.9.9'] },
];

const RATE_LIMIT =
  'Token buckets of each client network: one for questions over UDP, and one of the same size for those that prove their address, over TCP or by a DNS cookie. Of limited queries the log has a row for the first of a client network in each second, which counts the others.';

/** How questions are answered and forwarded. */
export const dns = section('How questions are answered and forwarded.', {
  query_timeout_ms: key(int(100, 60_000).default(3000), {
    unit: 'milliseconds',
    doc: 'Time one question may take in all.',
  }),
  udp_coalesce_us: key(int(0, 1000).default(0), {
    unit: 'microseconds',
    doc: 'Time that a thread with more than 10,000 queries a second may wait for a fuller batch: less CPU, more latency; 0 never waits.',
  }),
  default_strategy: key(z.enum(STRATEGIES).default('Parallel'), { doc: 'Strategy of pools that name none.' }),
  dnssec_enabled: key(bool.default(false), {
    doc: 'Validates the DNSSEC signatures of what upstreams answer.',
  }),
  dnssec_trust_anchors: key(is.orEmpty(is.path).default(''), {
    perNode,
    doc: 'File of DS or DNSKEY records to trust; empty is the built-in ones of the root.',
  }),
  dnssec_anchor_updates: key(z.enum(['builtin', 'all', 'off']).default('builtin'), {
    doc: 'Zones whose trust anchors follow key rollovers (RFC 5011): the built-in root, or that of the file too.',
  }),
  dnssec_negative_trust_anchors: key(list(is.domain).default([]), {
    doc: 'Domains that are not validated.',
  }),
  chaos_clients: key(list(is.cidr).default(['127.0.0.0/8', '::1/128']), {
    doc: 'Networks of clients that may ask for version.bind, hostname.bind, id.server, status.weir and local.api.ftl (class CHAOS); others are refused.',
  }),
  allowed_clients: key(list(is.allowedClient).default(['private', 'connected']), {
    doc: 'Who may ask: networks, private (all private and link-local addresses), connected (the networks of this machine) and any; everyone else is refused, except for clients with a random client key (13 letters and digits, or 16 hexadecimal digits).',
  }),
  blocked_clients: key(list(is.blockedClient).default([]), {
    doc: 'Networks, MAC addresses and client keys that may never ask.',
  }),
  refuse_silently: key(bool.default(false), {
    doc: 'Gives clients that may not ask no answer at all; otherwise REFUSED, a few times a second for each network.',
  }),
  health_check_names: key(list(is.domain).default([]), {
    doc: 'Names that load balancers ask to see whether this server answers; neither logged nor counted, like questions of class CHAOS.',
  }),
  block_private_ptr: key(bool.default(true), {
    doc: 'Answers PTR questions for private IPv4 addresses (RFC 1918) without a local record with NXDOMAIN.',
  }),
  block_non_fqdn: key(bool.default(false), {
    doc: 'Answers questions for names of a single label with NXDOMAIN.',
  }),
  special_names: key(bool.default(true), {
    doc: 'Answers reserved names itself: localhost, local, home.arpa, test, invalid, onion, resolver.arpa.',
  }),
  block_doh_canary: key(bool.default(true), {
    doc: 'Answers use-application-dns.net with NXDOMAIN, so that Firefox stays with this server.',
  }),
  block_private_relay: key(bool.default(true), {
    doc: "Answers the names of iCloud Private Relay with NXDOMAIN, so that Apple's devices stay with this server.",
  }),
  local_records: key(list(is.localRecord).default([]), {
    doc: 'Names answered here, one a line of "name [ttl] type value"; more of them in the dashboard.',
  }),
  never_forward_non_fqdn: key(bool.default(false), {
    doc: 'Never forwards names of a single label; local records and forward zones still answer.',
  }),
  never_forward_reverse_lookups: key(bool.default(false), {
    doc: 'Never forwards questions for the names of addresses; local records and forward zones still answer.',
  }),
  local_domain: key(is.orEmpty(is.domain).default(''), { doc: 'Domain of the local network.' }),
  local_dns_server: key(is.orEmpty(is.hostPort).default(''), {
    doc: 'Server (host:port) that knows the local domain and the private addresses.',
  }),
  dhcp_leases: key(list(is.path).default([]), {
    perNode,
    doc: 'Lease files of DHCP servers (dnsmasq or ISC dhcpd) that name clients; read again when they change.',
  }),
  rebinding_protection: key(bool.default(true), {
    doc: 'Refuses private, multicast and carrier (100.64/10) addresses in the answers of public names.',
  }),
  rebinding_allowlist: key(list(is.domain).default([]), {
    doc: 'Domains that may answer with private addresses, such as those of DNS blocklists (127.0.0.x) or ts.net (Tailscale).',
  }),
  bootstrap: key(list(is.resolver).default(['1.1.1.1', '8.8.8.8', '9.9.9.9']), {
    doc: 'Resolvers (address with or without port) that find upstreams given by name.',
  }),
  upstream_ca_path: key(is.orEmpty(is.path).default(''), {
    perNode,
    doc: "Certificates (PEM) of authorities that tls:// and https:// upstreams may be signed by, beside the system's; empty means none.",
  }),
  ecs: key(z.enum(['strip', 'forward']).default('strip'), {
    doc: 'Client subnets (RFC 7871) in questions: taken out, or handed to the upstream; what it answers for a subnet is not cached.',
  }),
  cookies: key(z.enum(HARDENING_MODES).default('auto'), {
    doc: 'DNS cookies (RFC 7873) in questions to UDP upstreams: auto for public servers that probes have shown to handle them; on for every server; off for none.',
  }),
  case_randomization: key(z.enum(HARDENING_MODES).default('auto'), {
    doc: 'Random letter case of names in questions to UDP upstreams: auto for public servers that probes have shown to handle it; on for every server; off for none.',
  }),
  pools: key(list(pool, 1, 'at least one table').default(DEFAULT_POOLS), {
    doc: 'Upstream servers: public resolvers (Cloudflare and Google; Quad9 where neither is in reach).',
  }),
  health_check: section('Probes of the upstream servers.', {
    enabled: key(bool.default(true), {
      doc: 'Probes every upstream server, so that a dead one is not asked.',
    }),
    interval_secs: key(int(1, 3600).default(30), {
      unit: 'seconds',
      doc: 'Time between two probes of a server.',
    }),
    timeout_ms: key(int(50, 60_000).default(2000), {
      unit: 'milliseconds',
      doc: 'Time after which a probe has failed.',
    }),
    failure_threshold: key(int(1, 100).default(3), {
      unit: 'probes',
      doc: 'Failures in a row that make a server unhealthy.',
    }),
    success_threshold: key(int(1, 100).default(2), {
      unit: 'probes',
      doc: 'Answers in a row that make it healthy again.',
    }),
  }),
  rate_limit: section(RATE_LIMIT, {
    enabled: key(bool.default(false), { doc: 'Limits the questions of a client network.' }),
    queries_per_second: key(int(1, 10_000_000).default(1000), {
      unit: 'questions per second',
      doc: 'Refill of a bucket.',
    }),
    burst_size: key(int(1, 10_000_000).default(500), { unit: 'questions', doc: 'Capacity of a bucket.' }),
    ipv4_prefix_len: key(int(1, 32).default(24), {
      unit: 'bits',
      doc: 'Size of a client network, IPv4; networks also share the resolver, with the limit off too.',
    }),
    ipv6_prefix_len: key(int(1, 128).default(48), { unit: 'bits', doc: 'The same for IPv6.' }),
    whitelist: key(list(is.cidr).default([]), { doc: 'Networks that are never limited.' }),
    nxdomain_per_second: key(int(1, 10_000_000).default(50), {
      unit: 'answers per second',
      doc: 'Budget of NXDOMAIN answers of a client network, also those that Weir makes itself.',
    }),
    slip_ratio: key(int(0, 1000).default(0), {
      unit: 'answers',
      doc: 'Every Nth limited UDP answer is truncated instead of refused; 0 is never.',
    }),
    dry_run: key(bool.default(false), { doc: 'Logs what would be limited and answers it all the same.' }),
    stale_entry_ttl_secs: key(int(1, DAY_SECS).default(300), {
      unit: 'seconds',
      doc: 'Idle time after which a bucket may be evicted. Weir never has to: a bucket is one number in a table of fixed size, and an idle one is full again.',
    }),
    tcp_max_connections_per_ip: key(int(0, 65_535).default(30), {
      unit: 'connections',
      doc: 'TCP connections of one client address; 0 is no limit.',
    }),
    dot_max_connections_per_ip: key(int(0, 65_535).default(15), {
      unit: 'connections',
      doc: 'DoT connections of one client address, and DoH connections; 0 is no limit.',
    }),
  }),
});
