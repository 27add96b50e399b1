/** Upstream servers and their pools, as in the configuration and in forward zones. */

/** One upstream server of a pool, parsed. */
export interface UpstreamSettings {
  /** The configured text, e.g. `udp://192.0.2.1:53`; also the name of the server in logs and the API. */
  readonly address: string;
  readonly transport: 'udp' | 'tcp' | 'tls' | 'https';
  /** IP address or host name. */
  readonly host: string;
  readonly port: number;
  /** The address in `host@ip`, if any. */
  readonly pinnedIp?: string;
  /** Path and query of a DoH upstream. */
  readonly path?: string;
  /** Number of the server in log records and the cache, minus one; by default its index among all servers. */
  readonly number?: number;
}

/** How pools distribute their questions; the index of a strategy is its code in shared memory. */
export const POOL_STRATEGIES = ['Parallel', 'Failover', 'Balanced', 'Fastest'] as const;
export type PoolStrategy = (typeof POOL_STRATEGIES)[number];

/** A pool of upstreams. Pools are used in order of `priority`, lowest number first. */
export interface PoolSettings {
  readonly name: string;
  readonly strategy: PoolStrategy;
  readonly priority: number;
  readonly servers: readonly UpstreamSettings[];
}
