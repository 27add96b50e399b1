/** Upstream servers and the pools that they form, as the configuration and forward zones name them. */

/** One upstream server of a pool, parsed. */
export interface UpstreamSettings {
  /** The configured text, e.g. `udp://192.0.2.1:53`; its name in logs and API. */
  readonly address: string;
  readonly transport: 'udp' | 'tcp' | 'tls' | 'https';
  /** IP address or host name. */
  readonly host: string;
  readonly port: number;
  /** Address pinned by `host@ip`, if any. */
  readonly pinnedIp?: string;
  /** Path and query of a DoH upstream. */
  readonly path?: string;
  /** Number in log records and the cache, less one; by default the position among all servers. */
  readonly number?: number;
}

/** How pools spread their questions; order = code in shared memory. */
export const POOL_STRATEGIES = ['Parallel', 'Failover', 'Balanced', 'Fastest'] as const;
export type PoolStrategy = (typeof POOL_STRATEGIES)[number];

/** A pool of upstreams. Pools are asked in order of `priority`, lower first. */
export interface PoolSettings {
  readonly name: string;
  readonly strategy: PoolStrategy;
  readonly priority: number;
  readonly servers: readonly UpstreamSettings[];
}
