/**
 * Determines to which servers queries for a name are sent: those of its forward zone, or those of the pools in order of
 * priority.
 */
import type { ExplainedPool } from '../../../shared/api/explain-api.ts';
import type { UpstreamDetail } from '../../../shared/api/upstreams-api.ts';
import type { ExplainedServers } from '../../../shared/threads/explanation.ts';

/** Sources of the states of servers and of the priorities of pools. */
export interface AskedServersParts {
  /** The state of each server, in the form of `/upstream/health/detail`. */
  readonly details: () => readonly UpstreamDetail[];
  /** The pools of the configuration. */
  readonly pools: () => readonly { readonly name: string; readonly priority: number }[];
}

/**
 * The pools in the order in which they are queried. The servers of a zone are one pool, and are queried at the same
 * time.
 */
export function askedPools(
  { details, pools }: AskedServersParts,
  { zone, servers }: Pick<ExplainedServers, 'zone' | 'servers'>,
): ExplainedPool[] {
  const known = details();
  if (zone !== null) {
    const ofZone = known.filter(({ kind, pool_name: name }) => kind === 'forward_zone' && name === zone);
    const statusOf = (address: string) => ofZone.find((one) => one.address === address)?.status ?? 'Unknown';
    const shown = servers.map((address) => ({ address, status: statusOf(address) }));
    return [{ name: zone, strategy: 'Parallel', servers: shown }];
  }
  const priorities = new Map(pools().map(({ name, priority }) => [name, priority]));
  const byPool = Map.groupBy(
    known.filter(({ kind }) => kind === 'pool'),
    ({ pool_name: name }) => name,
  );
  return [...byPool]
    .sort(([one], [other]) => (priorities.get(one) ?? 0) - (priorities.get(other) ?? 0))
    .map(([name, members]) => ({
      name,
      strategy: members[0]!.strategy,
      servers: members.map(({ address, status }) => ({ address, status })),
    }));
}
