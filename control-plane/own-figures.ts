/** What this node says of itself with each heartbeat, read from its parts when it does. */
import { NodeState } from '../shared/threads/messages.ts';
import type { CacheContents } from './cache/cache-contents.ts';
import { reachableAddress } from './cluster/node-address.ts';
import type { NodeClaim } from './cluster/node-claim.ts';
import type { NodeFigures } from './cluster/node-figures.ts';
import type { Node } from './node.ts';
import type { LogWriter } from './query-log/store/log-writer.ts';
import type { Configuration } from './settings/configuration.ts';
import type { SnapshotPublisher } from './snapshot/publish/publisher.ts';
import type { QueryRate } from './stats/query-rate.ts';
import type { WorkerSupervisor } from './workers/supervisor.ts';

/** The parts that are asked. */
export interface FigureParts {
  readonly claim: Pick<NodeClaim, 'say'>;
  readonly policy: { revision(): number | null };
  readonly follower: { mark(): number | null };
  readonly publisher: Pick<SnapshotPublisher, 'current'>;
  readonly rate: Pick<QueryRate, 'recentQueries'>;
  readonly supervisor: Pick<WorkerSupervisor, 'nodeState' | 'upstreams'>;
  readonly writer: Pick<LogWriter, 'counters'>;
  readonly cache: Pick<CacheContents, 'metrics'>;
}

const STATES = {
  [NodeState.HOLDING]: 'starting',
  [NodeState.STARTING]: 'starting',
  [NodeState.READY]: 'ready',
  [NodeState.DRAINING]: 'draining',
} as const;

/** Has the figures said with each heartbeat; returns what reads them. */
export function sayFigures({ config, configuration }: Node, parts: FigureParts): () => NodeFigures {
  const figures = (): NodeFigures => ({
    address: reachableAddress(config.server.bind_address),
    state: STATES[parts.supervisor.nodeState()],
    snapshotId: parts.publisher.current().snapshot.version,
    policyRevision: parts.policy.revision(),
    mark: parts.follower.mark(),
    qps: parts.rate.recentQueries('second'),
    others: othersOf(parts, configuration),
  });
  parts.claim.say(figures);
  return figures;
}

function othersOf(
  { supervisor, writer, cache }: FigureParts,
  configuration: Configuration,
): NodeFigures['others'] {
  const { dropped, refused, spooled } = writer.counters();
  const { entries, hit_rate } = cache.metrics();
  // A server is one, however many workers watch it.
  const servers = new Map<string, boolean>();
  for (const { pools } of supervisor.upstreams())
    for (const { address, poolName, status } of pools) {
      const key = `${poolName} ${address}`;
      servers.set(key, servers.get(key) === true || status === 'Unhealthy');
    }
  return {
    rows_lost: dropped + refused,
    rows_spooled: spooled,
    upstreams: { all: servers.size, unhealthy: [...servers.values()].filter(Boolean).length },
    cache: { entries, hit_rate },
    drift: configuration.drift(),
  };
}
