/** Statistics that this node reports with each heartbeat, read from its parts at that time. */
import { NodeState } from '../../shared/threads/messages.ts';
import type { CacheContents } from '../resolving/cache/cache-contents.ts';
import { reachableAddress } from '../storage/cluster/node-address.ts';
import type { NodeFigures } from '../storage/cluster/node-figures.ts';
import type { PolicyContext } from './start-policy.ts';

/** A node with its answer cache. */
type FiguresContext = PolicyContext & { readonly cache: Pick<CacheContents, 'metrics'> };

const STATES = {
  [NodeState.HOLDING]: 'starting',
  [NodeState.STARTING]: 'starting',
  [NodeState.READY]: 'ready',
  [NodeState.DRAINING]: 'draining',
} as const;

/** Adds the statistics to each heartbeat; returns the function that reads these statistics. */
export function heartbeatFigures(context: FiguresContext): () => NodeFigures {
  const figures = (): NodeFigures => ({
    address: reachableAddress(context.config.server.bind_address),
    state: STATES[context.supervisor.nodeState()],
    snapshotId: context.publisher.current().snapshot.version,
    policyRevision: context.activePolicy.revision(),
    mark: context.follower.mark(),
    qps: context.rate.recentQueries('second'),
    others: othersOf(context),
  });
  context.claim.reportFigures(figures);
  return figures;
}

function othersOf({ supervisor, writer, cache, configuration }: FiguresContext): NodeFigures['others'] {
  const { entries, hit_rate } = cache.metrics();
  // Each server is counted once, although every worker reports its state.
  const servers = new Map<string, boolean>();
  for (const { pools } of supervisor.upstreams())
    for (const { address, poolName, status } of pools) {
      const key = `${poolName} ${address}`;
      servers.set(key, servers.get(key) === true || status === 'Unhealthy');
    }
  return {
    rows_lost: writer.lostRows(),
    rows_spooled: writer.counters().spooled,
    upstreams: { all: servers.size, unhealthy: [...servers.values()].filter(Boolean).length },
    cache: { entries, hit_rate },
    drift: configuration.drift(),
  };
}
