/** Derives the DNS threads' settings from the configuration. */
import { readFileSync } from 'node:fs';
import type { Config } from '../../config/schema.ts';
import { poolsOf } from '../../config/upstream-url.ts';
import type { WorkerSettings } from '../../shared/threads/messages.ts';

import { trustPoints } from './trust-points.ts';

/** Switches that are not configuration: set by tests and by the bench through the environment. */
export interface WorkerHooks {
  readonly udpBackend: WorkerSettings['udpBackend'];
  readonly faultInjection: boolean;
}

/** Settings for threads that listen on `dnsPort`. Throws if the file of certificates cannot be read. */
export function workerSettings(config: Config, dnsPort: number, hooks: WorkerHooks): WorkerSettings {
  const { dns, cache, server } = config;
  return {
    bindAddresses: server.bind_address,
    dnsPort,
    pools: poolsOf(dns.pools),
    queryTimeoutMs: dns.query_timeout_ms,
    bootstrap: dns.bootstrap,
    ...(dns.upstream_ca_path === '' ? {} : { extraCa: readUpstreamCa(dns.upstream_ca_path) }),
    healthCheck: {
      enabled: dns.health_check.enabled,
      intervalSecs: dns.health_check.interval_secs,
      timeoutMs: dns.health_check.timeout_ms,
      failureThreshold: dns.health_check.failure_threshold,
      successThreshold: dns.health_check.success_threshold,
    },
    cache: {
      enabled: cache.enabled,
      minTtlSecs: cache.min_ttl_secs,
      maxTtlSecs: cache.max_ttl_secs,
      negativeMaxTtlSecs: cache.negative_max_ttl_secs,
      serveStaleSecs: cache.serve_stale_secs,
      optimisticRefresh: cache.optimistic_refresh,
    },
    dnssec: dns.dnssec_enabled ? trustPoints(dns) : null,
    forwardsEcs: dns.ecs === 'forward',
    rateLimit: {
      enabled: dns.rate_limit.enabled,
      queriesPerSecond: dns.rate_limit.queries_per_second,
      burstSize: dns.rate_limit.burst_size,
      ipv4PrefixLength: dns.rate_limit.ipv4_prefix_len,
      ipv6PrefixLength: dns.rate_limit.ipv6_prefix_len,
      whitelist: dns.rate_limit.whitelist,
      nxdomainPerSecond: dns.rate_limit.nxdomain_per_second,
      slipRatio: dns.rate_limit.slip_ratio,
      dryRun: dns.rate_limit.dry_run,
    },
    tcpMaxConnectionsPerIp: dns.rate_limit.tcp_max_connections_per_ip,
    coalesceUs: dns.udp_coalesce_us,
    ...hooks,
  };
}

/** The certificates of a PEM file; threads get them as text, since they never open a file. */
function readUpstreamCa(path: string): string[] {
  const found = readFileSync(path, 'utf8').match(
    /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu,
  );
  if (found === null) throw new Error(`read dns.upstream_ca_path: ${path} holds no PEM certificate`);
  return found;
}

/** Reads the hooks: WEIR_UDP_BACKEND=dgram forces the fallback, WEIR_FAULT_INJECTION=1 lets tests break threads. */
export function workerHooks(env: NodeJS.ProcessEnv): WorkerHooks {
  return {
    udpBackend: env['WEIR_UDP_BACKEND'] === 'dgram' ? 'dgram' : 'auto',
    faultInjection: env['WEIR_FAULT_INJECTION'] === '1',
  };
}
