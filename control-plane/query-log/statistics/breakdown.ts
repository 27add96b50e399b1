/** Numbers of queries of a period by upstream, list and service, from the counts that are stored with each block. */
import type { LogSource } from '../reading/log-source.ts';
import { nodesOf } from '../reading/query-log-store.ts';
import { type NodeSpan, readCounts } from './counts-reader.ts';
import { average, countsOf } from './stats-store.ts';

/** Number of queries that were forwarded to an upstream. */
export interface UpstreamCount {
  readonly upstream: string;
  readonly count: number;
  /** Mean response time, milliseconds. */
  readonly avgTimeMs: number;
}

/** Counts by upstream, list and service, each sorted with the largest first. */
export interface Breakdown {
  readonly forwarded: number;
  readonly blocked: number;
  readonly upstreams: readonly UpstreamCount[];
  /** By `list_sources.id`. */
  readonly lists: readonly (readonly [id: number, count: number])[];
  /** By name of the service. */
  readonly services: readonly (readonly [name: string, count: number])[];
}

/** Reads the counts of a span. */
export async function readBreakdown(log: LogSource, { fromMs, toMs, node }: NodeSpan): Promise<Breakdown> {
  const sums = await log.read(async (tx) => {
    const { nodeId } = await nodesOf(tx, { node });
    return readCounts(tx, fromMs, toMs, nodeId);
  });
  const timeOf = (upstream: string): number => sums.counts.get(`upstream_us:${upstream}`) ?? 0;
  return {
    forwarded: sums.forwarded,
    blocked: sums.blocked,
    upstreams: countsOf(sums, 'upstream').map(([upstream, count]) => ({
      upstream,
      count,
      avgTimeMs: average(timeOf(upstream), count),
    })),
    lists: countsOf(sums, 'list').map(([id, count]) => [Number(id), count] as const),
    services: countsOf(sums, 'service'),
  };
}
