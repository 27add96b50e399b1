/** Maps upstream servers of another program to pools of the configuration. Pure. */
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { expectedInstead, resolver } from '../../../../config/value-checks.ts';
import type { PlanBuilder } from './plan-builder.ts';
import type { ReadUpstream } from './upstream-text.ts';

/** How a pool distributes queries. */
export type PoolStrategy = 'Parallel' | 'Failover' | 'Balanced' | 'Fastest';

interface Pool {
  readonly name: string;
  readonly strategy: PoolStrategy;
  readonly priority: number;
  readonly servers: readonly string[];
}

/** Collects pools; Weir queries the first pool first. */
export class PlannedPools {
  private readonly builder: PlanBuilder;
  private readonly read: (written: string) => ReadUpstream;
  private readonly pools: Pool[] = [];

  /** `read` parses a server in the notation of the other program. */
  constructor(builder: PlanBuilder, read: (written: string) => ReadUpstream) {
    this.builder = builder;
    this.read = read;
  }

  /** The servers that Weir supports; with `reports`, unsupported servers and comments are added to the report. */
  servers(written: readonly string[], reports = true): string[] {
    return written.flatMap((one) => {
      const read = this.read(one);
      const name = `upstream ${one}`;
      if (read.server === null && reports) this.builder.notMapped('configuration', name, read.reason);
      else if (read.server !== null && read.remark !== null && reports)
        this.builder.differs('configuration', name, read.remark, []);
      return read.server ?? [];
    });
  }

  /** Adds a pool if at least one of its servers is usable. */
  add(name: string, strategy: PoolStrategy, written: readonly string[]): void {
    const servers = [...new Set(this.servers(written))];
    if (servers.length > 0) this.pools.push({ name, strategy, priority: this.pools.length + 1, servers });
  }

  /** Adds the pools to the plan; `from` is the key of the file that contains their servers. */
  finish(from: string): void {
    if (this.pools.length > 0) this.builder.key('dns.pools', this.pools, from);
  }
}

/** Adds the resolvers that look up the addresses of upstreams with a host name. */
export function addBootstrap(builder: PlanBuilder, written: readonly string[], from: string): void {
  const plain = written.flatMap((one) => {
    const address = one.trim().replace(/^(?:udp:\/\/|tcp\+udp:)/i, '');
    if (address === '' || address.startsWith('#')) return [];
    if (expectedInstead(resolver, address) === undefined) return [address];
    builder.notMapped('configuration', `${from} ${one}`, importReason('plain_addresses_only'));
    return [];
  });
  if (plain.length > 0) builder.key('dns.bootstrap', plain, from);
}

/** Adds a rate limit of queries; null disables it. The prefix lengths define which clients share a budget. */
export function addRateLimit(
  builder: PlanBuilder,
  limit: {
    readonly perSecond: number;
    readonly burst: number;
    readonly ipv4PrefixLength: number;
    readonly ipv6PrefixLength: number;
  } | null,
  from: string,
): void {
  const add = (name: string, value: unknown): void => builder.key(`dns.rate_limit.${name}`, value, from);
  add('enabled', limit !== null);
  if (limit === null) return;
  add('queries_per_second', limit.perSecond);
  add('burst_size', limit.burst);
  add('ipv4_prefix_len', limit.ipv4PrefixLength);
  add('ipv6_prefix_len', limit.ipv6PrefixLength);
}
