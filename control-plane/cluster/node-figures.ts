/** What the nodes of a database say of themselves, in the `nodes` table. Who holds a name is known to `node-store.ts`. */
import type { Queryable } from '../db/database.ts';
import { type NodeIdentity, nodeIdOf } from './node-store.ts';

/** What a node says of itself with each heartbeat. */
export interface NodeFigures {
  readonly address: string | null;
  /** Version of the snapshot in force. */
  readonly snapshotId: number;
  /** The newest revision in force; null = not known. */
  readonly policyRevision: number | null;
  /** Queries of the last second. */
  readonly qps: number;
}

/** A row of the table; `lagOfAsked` = the lag of the revision that was asked for. */
export interface NodeRow {
  readonly id: number;
  readonly node: string;
  readonly version: string | null;
  readonly address: string | null;
  readonly started_at: Date | null;
  readonly last_seen: Date;
  readonly snapshot_id: number | null;
  readonly policy_revision: number | null;
  readonly lag_ms: number | null;
  readonly qps: number | null;
  readonly lagOfAsked: number | null;
}

/** Milliseconds for which there has been a newer revision than this one; null if it is. */
const lagOf = (revision: string): string =>
  `CASE WHEN ${revision}::bigint IS NULL THEN NULL ELSE coalesce((SELECT greatest(0, least(2147483647,
     extract(epoch FROM clock_timestamp() - created_at) * 1000))::integer
     FROM revisions WHERE id > ${revision}::bigint ORDER BY id LIMIT 1), 0) END`;

/** Stores what this process says of its node, if it holds the name. */
export async function storeFigures(
  database: Queryable,
  { name, run }: NodeIdentity,
  { address, snapshotId, policyRevision, qps }: NodeFigures,
): Promise<void> {
  await database.query(
    `UPDATE nodes SET address = $3, snapshot_id = $4, policy_revision = $5, qps = $6, lag_ms = ${lagOf('$5')}
     WHERE id = $1 AND run = $2`,
    [nodeIdOf(name), run, address, snapshotId, policyRevision, qps],
  );
}

/** All nodes by name, with the lag of `revision`. */
export async function listNodes(database: Queryable, revision: number | null): Promise<NodeRow[]> {
  const { rows } = await database.query<NodeRow>(
    `SELECT id, name AS node, version, address, started_at, last_seen, snapshot_id,
       policy_revision, lag_ms, qps,
       ${lagOf('$1')} AS "lagOfAsked" FROM nodes ORDER BY name`,
    [revision],
  );
  return rows;
}
