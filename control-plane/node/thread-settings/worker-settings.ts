/** Derives the DNS threads' settings from the configuration. */
import type { Config } from '../../../config/schema.ts';
import { poolsOf } from '../../../config/upstream-url.ts';
import type { CompatApiUrls, WorkerSettings } from '../../../shared/threads/messages.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { TrustAnchorError } from '../../../shared/dns/trust-anchors.ts';
import { readRegularFile } from '../../host/files/regular-file.ts';
import { COMPAT_NAME, nodeNameOf } from '../../policy/settings/derived.ts';
import { trustPoints } from './trust-points.ts';

/** Options outside the configuration, which tests and benchmarks set by environment variables. */
export interface WorkerHooks {
  readonly udpBackend: WorkerSettings['udpBackend'];
  readonly faultInjection: boolean;
}

/** Settings for threads that listen on `dnsPort`. Throws if the certificate file cannot be read. */
export function workerSettings(config: Config, dnsPort: number, hooks: WorkerHooks): WorkerSettings {
  const { dns, server } = config;
  return {
    bindAddresses: server.bind_address,
    dnsPort,
    pools: poolsOf(dns.pools),
    queryTimeoutMs: dns.query_timeout_ms,
    bootstrap: dns.bootstrap,
    ...upstreamCaOf(config),
    healthCheck: healthCheckOf(dns),
    cache: cacheOf(config),
    dnssec: dns.dnssec_enabled ? trustPoints(dns) : null,
    hardening: { cookies: dns.cookies, caseRandomization: dns.case_randomization },
    forwardsEcs: dns.ecs === 'forward',
    rateLimit: rateLimitOf(dns),
    // `start-dns.ts` sets the value, which is not part of the configuration.
    clockFloorMs: 0,
    identity: {
      chaosClients: dns.chaos_clients,
      healthCheckNames: dns.health_check_names,
      logExcludedDomains: config.database.log_excluded_domains,
      statsExcludedDomains: config.database.stats_excluded_domains,
      refusesSilently: dns.refuse_silently,
      version: '',
      nodeName: nodeNameOf(config),
      compatApi: compatApiUrls(server),
      designated: [],
      designatedAddresses: [],
    },
    tcpMaxConnectionsPerIp: dns.rate_limit.tcp_max_connections_per_ip,
    dotMaxConnectionsPerIp: dns.rate_limit.dot_max_connections_per_ip,
    dotPort: server.encrypted_dns.dot_enabled ? server.encrypted_dns.dot_port : null,
    dohPort: server.encrypted_dns.doh_enabled ? server.encrypted_dns.doh_port : null,
    proxyProtocol: server.proxy_protocol_enabled ? server.proxy_protocol_trusted : null,
    trustedProxies: server.trusted_proxies,
    coalesceUs: dns.udp_coalesce_us,
    ...hooks,
  };
}

/** URLs of the compatibility API; null if the system chooses the port, which is unknown here. */
function compatApiUrls(server: Config['server']): CompatApiUrls | null {
  const { alt_compat: isServed, web_port: port, web_tls: tls, bind_address: addresses } = server;
  if (!isServed || port === 0) return null;
  const urlOf = (host: string): string => `http${tls.enabled ? 's' : ''}://${host}:${String(port)}/api/`;
  return { local: urlOf(localHost(addresses)), named: urlOf(COMPAT_NAME) };
}

function localHost(addresses: Config['server']['bind_address']): string {
  if (addresses.some((address) => address === '0.0.0.0' || address === '127.0.0.1')) return '127.0.0.1';
  if (addresses.some((address) => address === '::' || address === '::1')) return '[::1]';
  const [first = ''] = addresses;
  return first.includes(':') ? `[${first}]` : first;
}

function healthCheckOf({ health_check: check }: Config['dns']): WorkerSettings['healthCheck'] {
  return {
    enabled: check.enabled,
    intervalSecs: check.interval_secs,
    timeoutMs: check.timeout_ms,
    failureThreshold: check.failure_threshold,
    successThreshold: check.success_threshold,
  };
}

function cacheOf({ cache }: Config): WorkerSettings['cache'] {
  return {
    enabled: cache.enabled,
    minTtlSecs: cache.min_ttl_secs,
    maxTtlSecs: cache.max_ttl_secs,
    negativeMaxTtlSecs: cache.negative_max_ttl_secs,
    serveStaleSecs: cache.serve_stale_secs,
    optimisticRefresh: cache.optimistic_refresh,
  };
}

function rateLimitOf({ rate_limit: limit }: Config['dns']): WorkerSettings['rateLimit'] {
  return {
    enabled: limit.enabled,
    queriesPerSecond: limit.queries_per_second,
    burstSize: limit.burst_size,
    ipv4PrefixLength: limit.ipv4_prefix_len,
    ipv6PrefixLength: limit.ipv6_prefix_len,
    whitelist: limit.whitelist,
    nxdomainPerSecond: limit.nxdomain_per_second,
    slipRatio: limit.slip_ratio,
    dryRun: limit.dry_run,
  };
}

/** CAs that are trusted for upstreams in addition to those of the system. Throws if their file cannot be read. */
export function upstreamCaOf({ dns }: Config): Pick<WorkerSettings, 'extraCa'> {
  return dns.upstream_ca_path === '' ? {} : { extraCa: readUpstreamCa(dns.upstream_ca_path) };
}

/** The certificates in a PEM file; threads get them as text, because they never open a file. */
function readUpstreamCa(path: string): string[] {
  const found = readRegularFile(path).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu);
  if (found === null)
    throw new Error(`could not read dns.upstream_ca_path: ${path} contains no PEM certificate`);
  return found;
}

/** Errors in files to which a configuration refers, by key. */
export function fileFaults({ dns }: Config): { path: string; message: string }[] {
  const faultOf = (path: string, read: () => unknown): { path: string; message: string }[] => {
    try {
      read();
      return [];
    } catch (error) {
      // An API client must not see lines of arbitrary files, so the message does not contain any.
      const isLine = error instanceof TrustAnchorError;
      return [{ path, message: isLine ? 'expected DS and DNSKEY records only' : reasonOf(error) }];
    }
  };
  return [
    ...faultOf('dns.dnssec_trust_anchors', () => dns.dnssec_enabled && trustPoints(dns)),
    ...faultOf(
      'dns.upstream_ca_path',
      () => dns.upstream_ca_path !== '' && readUpstreamCa(dns.upstream_ca_path),
    ),
  ];
}

/** Reads the hooks: WEIR_UDP_BACKEND=dgram forces the fallback, WEIR_FAULT_INJECTION=1 lets tests break threads. */
export function workerHooks(env: NodeJS.ProcessEnv): WorkerHooks {
  return {
    udpBackend: env['WEIR_UDP_BACKEND'] === 'dgram' ? 'dgram' : 'auto',
    faultInjection: env['WEIR_FAULT_INJECTION'] === '1',
  };
}
