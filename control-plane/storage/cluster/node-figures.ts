/**
 * SQL of the reports that the nodes of a database write to the `nodes` table, and of the state of nodes.
 * `node-store.ts` determines which process holds a name.
 */
import type { ClusterNode } from '../../../shared/api/nodes-api.ts';
import type { Queryable } from '../db/database.ts';
import { type NodeIdentity, nodeIdOf } from './node-store.ts';

/** Figures of a node that are only displayed. */
export type ReportedFigures = Pick<
  ClusterNode,
  'rows_lost' | 'rows_spooled' | 'clock_offset_ms' | 'upstreams' | 'cache' | 'drift'
>;

/** Figures that a node reports with each heartbeat. */
export interface NodeFigures {
  readonly address: string | null;
  readonly state: 'starting' | 'ready' | 'draining';
  /** Version of the active snapshot. */
  readonly snapshotId: number;
  /** The newest active revision; null = unknown. */
  readonly policyRevision: number | null;
  /** The newest active mark, see `setMark()`; null = unknown. */
  readonly mark: number | null;
  /** Queries in the last second. */
  readonly qps: number;
  readonly others: Omit<ReportedFigures, 'clock_offset_ms'>;
}

/** Result of a heartbeat. */
export interface Beat {
  /** Unix milliseconds by the clock of the database. */
  readonly databaseMs: number;
  /** Other nodes whose heartbeat is missing or whose policy is older. */
  readonly inTrouble: readonly TroubledNode[];
  /** Other running nodes that have another version of Weir. */
  readonly otherVersions: readonly { readonly node: string; readonly version: string }[];
}

/** A node that needs attention. */
export interface TroubledNode {
  readonly node: string;
  readonly isSilent: boolean;
}

/** A row of the table; `lagOfAsked` is the lag of the requested revision. */
export interface NodeRow extends Pick<
  ClusterNode,
  'node' | 'version' | 'address' | 'state' | 'presence' | 'qps'
> {
  readonly id: number;
  readonly started_at: Date | null;
  readonly last_seen: Date;
  readonly applied_at: Date | null;
  readonly snapshot_id: number | null;
  readonly policy_revision: number | null;
  readonly lag_ms: number | null;
  readonly figures: ReportedFigures | null;
  readonly lagOfAsked: number | null;
}

/** Seconds without a heartbeat after which a node is late. */
const LATE_SECS = 6;
/** Seconds without a heartbeat after which a node counts as gone. */
export const GONE_SECS = 60;
/** Seconds after which a node should have applied a newer revision. */
const BEHIND_SECS = 5;

/**
 * Seconds since the last heartbeat; the absolute value, so that a node does not appear alive after the clock was set
 * back.
 */
const SILENCE = 'abs(extract(epoch FROM clock_timestamp() - last_seen))';
/** SQL of the presence of a node. A node that was stopped is gone immediately. */
const PRESENCE = `CASE WHEN run IS NULL OR ${SILENCE} > ${GONE_SECS} THEN 'gone'
  WHEN ${SILENCE} > ${LATE_SECS} THEN 'late' ELSE 'live' END`;

/** SQL condition that the node of a row was not stopped and is not gone. */
export const EXISTS = `run IS NOT NULL AND forgotten_at IS NULL AND ${SILENCE} <= ${GONE_SECS}`;

/** Milliseconds since a newer revision was created; null if the given revision is the newest. */
const lagOf = (revision: string): string =>
  `CASE WHEN ${revision}::bigint IS NULL THEN NULL ELSE coalesce((SELECT greatest(0, least(2147483647,
     extract(epoch FROM clock_timestamp() - created_at) * 1000))::integer
     FROM revisions WHERE id > ${revision}::bigint ORDER BY id LIMIT 1), 0) END`;

/** SQL of nodes with problems, except nodes that were stopped properly. */
const IN_TROUBLE = `SELECT coalesce(json_agg(json_build_object('node', name, 'isSilent', silent) ORDER BY name), '[]')
  FROM (SELECT id, name, ${SILENCE} > ${LATE_SECS} AS silent, ${lagOf('policy_revision')} AS lag
          FROM nodes WHERE run IS NOT NULL AND forgotten_at IS NULL) AS node
  WHERE id <> $1 AND (silent OR lag > ${BEHIND_SECS * 1000})`;

const OTHER_VERSIONS = `SELECT coalesce(json_agg(json_build_object('node', name, 'version', version) ORDER BY name), '[]')
  FROM nodes AS other WHERE other.id <> $1 AND other.version <> nodes.version AND ${EXISTS}`;

/** Stores a heartbeat with this node's figures; null if the process does not hold the name. */
export async function beatNode(
  database: Queryable,
  { name, run }: NodeIdentity,
  figures: NodeFigures,
  clockOffsetMs: number | null,
): Promise<Beat | null> {
  const { address, state, snapshotId, policyRevision, mark, qps, others } = figures;
  const { rows } = await database.query<Beat>(
    `UPDATE nodes SET last_seen = clock_timestamp(), address = $3, state = $4, snapshot_id = $5, policy_revision = $6,
       applied_at = CASE WHEN policy_revision IS DISTINCT FROM $6::bigint THEN clock_timestamp() ELSE applied_at END,
       policy_mark = coalesce($7::bigint, 0), qps = $8, figures = $9 WHERE id = $1 AND run = $2
     RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "databaseMs", (${IN_TROUBLE}) AS "inTrouble",
       (${OTHER_VERSIONS}) AS "otherVersions"`,
    [
      ...[nodeIdOf(name), run, address, state, snapshotId, policyRevision, mark, qps],
      JSON.stringify({ ...others, clock_offset_ms: clockOffsetMs } satisfies ReportedFigures),
    ],
  );
  return rows[0] ?? null;
}

/** All nodes that users have not deleted, sorted by name, with the lag of `revision`. */
export async function listNodes(database: Queryable, revision: number | null): Promise<NodeRow[]> {
  const { rows } = await database.query<NodeRow>(
    `SELECT id, name AS node, version, address, state, ${PRESENCE} AS presence, started_at, last_seen, applied_at,
       snapshot_id, policy_revision, ${lagOf('policy_revision')} AS lag_ms, qps, figures,
       ${lagOf('$1')} AS "lagOfAsked" FROM nodes WHERE forgotten_at IS NULL ORDER BY name`,
    [revision],
  );
  return rows;
}

/** Names of the running nodes that have not reported this mark or a newer one. */
export async function nodesBehind(database: Queryable, mark: number): Promise<string[]> {
  const { rows } = await database.query<{ name: string }>(
    `SELECT name FROM nodes WHERE ${EXISTS} AND coalesce(policy_mark, 0) < $1 ORDER BY name`,
    [mark],
  );
  return rows.map(({ name }) => name);
}

/** Deletes a node if it is gone; if not, returns why it must not be deleted. */
export async function deleteGoneNode(tx: Queryable, name: string): Promise<'done' | 'unknown' | 'present'> {
  const { rows } = await tx.query<{ presence: string }>(
    `SELECT ${PRESENCE} AS presence FROM nodes WHERE name = $1 AND forgotten_at IS NULL FOR UPDATE`,
    [name],
  );
  if (rows[0] === undefined) return 'unknown';
  if (rows[0].presence !== 'gone') return 'present';
  await tx.query('UPDATE nodes SET forgotten_at = now() WHERE name = $1', [name]);
  return 'done';
}
