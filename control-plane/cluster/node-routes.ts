/** HTTP of `{api}/nodes`: the nodes that share the database, each with what it last said; this one with what is now. */
import { type ClusterNode, ClusterNodeList } from '../../shared/api/nodes-api.ts';
import type { Clock } from '../../shared/clock.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import type { Database } from '../db/database.ts';
import type { NodeClaim } from './node-claim.ts';
import { listNodes, type NodeFigures } from './node-figures.ts';
import { nodeIdOf } from './node-store.ts';

/** What these rows are made of. */
export interface NodeRouteParts {
  readonly database: Database;
  readonly clock: Clock;
  /** `server.node_name`. */
  readonly nodeName: string;
  /** Whether that name is this node's. */
  readonly claim: Pick<NodeClaim, 'isHeld'>;
  readonly nodeFigures: () => NodeFigures;
}

/** The row of the nodes. */
export function nodeRoutes(parts: NodeRouteParts): Route[] {
  return [
    route({
      method: 'GET',
      path: '/nodes',
      access: 'viewer',
      tag: 'System',
      summary:
        'The nodes that share this database: what each runs, by which policy it answers, how busy it is',
      answer: ClusterNodeList,
      handle: () => nodesOf(parts),
    }),
  ];
}

async function nodesOf({
  database,
  clock,
  nodeName,
  claim,
  nodeFigures,
}: NodeRouteParts): Promise<ClusterNode[]> {
  const figures = nodeFigures();
  const nodes = await listNodes(database, figures.policyRevision);
  const ownId = claim.isHeld() ? nodeIdOf(nodeName) : null;
  return nodes.map(({ id, lagOfAsked, ...row }) => {
    const said = {
      ...row,
      started_at: row.started_at?.toISOString() ?? null,
      last_seen: row.last_seen.toISOString(),
    };
    if (id !== ownId) return said;
    return {
      ...said,
      last_seen: new Date(clock.nowMs()).toISOString(),
      address: figures.address,
      snapshot_id: figures.snapshotId,
      policy_revision: figures.policyRevision,
      lag_ms: lagOfAsked,
      qps: figures.qps,
    };
  });
}
