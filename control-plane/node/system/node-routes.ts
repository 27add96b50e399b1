/**
 * HTTP routes of `{api}/nodes`: the nodes that share the database, each with its last report, and this node with its
 * current state.
 */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import { ClusterNode, ClusterNodeList, NodeParams } from '../../../shared/api/nodes-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { conflict, notFound } from '../../api/api-error.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import { recordAudit } from '../../policy/audit/audit-store.ts';
import type { Database } from '../../storage/db/database.ts';
import type { NodeClaim } from '../../storage/cluster/node-claim.ts';
import {
  deleteGoneNode,
  listNodes,
  type NodeFigures,
  type NodeRow,
} from '../../storage/cluster/node-figures.ts';
import { nodeIdOf } from '../../storage/cluster/node-store.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { GONE_SECS } from '../../storage/cluster/node-figures.ts';
import { KILLED } from '../../storage/cluster/node-store.ts';

interface NodeContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly nodeName: string;
  /** Provides whether this node owns its name, and how far its clock is ahead. */
  readonly claim: Pick<NodeClaim, 'isHeld' | 'aheadMs'>;
  readonly nodeFigures: () => NodeFigures;
}

/** The routes of the nodes. */
export function nodeRoutes(context: NodeContext): Route[] {
  return [listAll(context), readNode(context), removeNode(context.database)];
}

function listAll(context: NodeContext): Route {
  return route({
    method: 'GET',
    path: '/nodes',
    access: 'viewer',
    tag: 'System',
    summary: 'The nodes that share this database: version, policy, health and load of each',
    answer: ClusterNodeList,
    handle: () => readNodes(context),
  });
}

function readNode(context: NodeContext): Route {
  return route({
    method: 'GET',
    path: '/nodes/{node}',
    access: 'viewer',
    tag: 'System',
    summary: 'One node',
    params: NodeParams,
    answer: ClusterNode,
    handle: async ({ params }) => {
      const found = (await readNodes(context)).find(({ node }) => node === params.node);
      if (found === undefined) throw notFound(`node ${params.node}`);
      return found;
    },
  });
}

/** Reads all nodes, this node with its current state. */
async function readNodes({
  database,
  clock,
  nodeName,
  claim,
  nodeFigures,
}: NodeContext): Promise<ClusterNode[]> {
  const figures = nodeFigures();
  const nodes = await listNodes(database, figures.policyRevision);
  const missing = await missingRows(database);
  const ownId = claim.isHeld() ? nodeIdOf(nodeName) : null;
  return nodes.map((row) => {
    const node = toClusterNode(row, missing.get(row.id));
    if (row.id !== ownId) return node;
    return {
      ...node,
      presence: 'live',
      last_seen: new Date(clock.nowMs()).toISOString(),
      address: figures.address,
      state: figures.state,
      snapshot_id: figures.snapshotId,
      policy_revision: figures.policyRevision,
      lag_ms: row.lagOfAsked,
      qps: figures.qps,
      ...figures.others,
      clock_offset_ms: claim.aheadMs(),
    };
  });
}

function removeNode(database: Database): Route {
  return route({
    method: 'DELETE',
    path: '/nodes/{node}',
    access: 'admin',
    tag: 'System',
    summary:
      'Remove a node that is gone; its rows in the query log are kept, and the node reappears if it ' +
      'starts again',
    params: NodeParams,
    errors: { 409: 'the node is running, or was running within the last minute' },
    handle: async (request) => {
      const { node } = request.params;
      await database.transaction(async (tx) => {
        const found = await deleteGoneNode(tx, node);
        if (found === 'unknown') throw notFound(`node ${node}`);
        if (found === 'present')
          throw conflict(`node ${node} is running, or was running within the last minute`);
        const change = { subject: codedSubject('node', { name: node }), action: codedAction('forgotten') };
        await recordAudit(tx, { actor: authorOf(request), ...change });
      });
    },
  });
}

function toClusterNode(
  { id: _id, lagOfAsked: _lag, figures, ...row }: NodeRow,
  missing?: MissingRows,
): ClusterNode {
  const { rows_lost = null, rows_spooled = null, clock_offset_ms = null } = figures ?? {};
  const { upstreams = null, cache = null, drift = null } = figures ?? {};
  return {
    ...row,
    started_at: row.started_at?.toISOString() ?? null,
    last_seen: row.last_seen.toISOString(),
    applied_at: row.applied_at?.toISOString() ?? null,
    rows_missing: missing?.rows ?? 0,
    rows_missing_is_minimum: missing?.isMinimum ?? false,
    rows_lost,
    rows_spooled,
    clock_offset_ms,
    upstreams,
    cache,
    drift,
  };
}

/** Rows of a node that are missing in the query log. */
export interface MissingRows {
  readonly rows: number;
  /** Whether a process of the node was killed, or ended without a report, so that more rows may be missing. */
  readonly isMinimum: boolean;
}

const IS_GONE = `abs(extract(epoch FROM clock_timestamp() - n.last_seen)) > ${GONE_SECS}`;

/** Missing rows of each node, by node id: the sum for all ended processes of the node that are in the log. */
export async function missingRows(database: Queryable): Promise<ReadonlyMap<number, MissingRows>> {
  const { rows } = await database.query<MissingRows & { id: number }>(
    `SELECT n.id, sum(greatest(r.next_seq, r.last_seq + 1)
         - coalesce((SELECT sum(upper(range) - lower(range)) FROM unnest(r.stored) AS range), 0))::bigint AS rows,
       bool_or(n.run IS NOT NULL AND ${IS_GONE})
         OR EXISTS (SELECT FROM meta WHERE key = '${KILLED}' || n.id) AS "isMinimum"
     FROM query_runs AS r JOIN nodes AS n ON n.id = r.node_id
     WHERE coalesce(r.part_of, r.key) IS DISTINCT FROM n.run OR ${IS_GONE}
     GROUP BY n.id`,
  );
  return new Map(rows.map(({ id, ...missing }) => [id, missing]));
}
