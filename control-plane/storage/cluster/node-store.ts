/**
 * The `nodes` table: the nodes that share this database. A node's id is derived from its name, so the id is known
 * without a database.
 */
import { crc32 } from 'node:zlib';
import type { Queryable } from '../db/database.ts';

/** The process that claims a name. */
export interface NodeIdentity {
  readonly name: string;
  readonly version: string;
  /** UUID of the data directory. */
  readonly uuid: string;
  /** Key of this run of the process. */
  readonly run: string;
}

/** Another process that holds the name, or whose name has the same id. */
export interface NodeHolder {
  readonly name: string;
  readonly uuid: string;
  readonly lastSeen: Date;
}

/** Seconds without a heartbeat after which a holder loses the name. */
const SILENT_SECS = 60;

/** Prefix of the key in `meta`, followed by a node's id, that marks a node whose process did not release its name. */
export const KILLED = 'killed_run ';

/**
 * Records that the previous process did not release its name. That process was killed, or had no database when it
 * ended, so its latest log rows may be missing. Call this at the first claim of a process.
 */
export async function noteKilled(database: Queryable, { name, uuid, run }: NodeIdentity): Promise<void> {
  await database.query(
    `INSERT INTO meta (key, value) SELECT '${KILLED}' || id, to_jsonb(run) FROM nodes
     WHERE id = $1 AND name = $2 AND run IS NOT NULL AND run <> $4
       AND (uuid = $3 OR abs(extract(epoch FROM now() - last_seen)) > ${SILENT_SECS})
     ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    [nodeIdOf(name), name, uuid, run],
  );
}

/** Id of a node in log rows: 31 bits that are derived from the node's name, so that the id never changes. */
export function nodeIdOf(name: string): number {
  return crc32(name) >>> 1;
}

/**
 * Claims the name for this process, or renews the claim. Returns null, or the current holder if the claim failed. A
 * name is free if its holder was stopped or sends no heartbeat. With `isFirst`, a name is also free if its holder used
 * the same data directory, so that a process can restart after it was killed. Setting the clock back does not extend a
 * claim.
 */
export async function claimNode(
  database: Queryable,
  { name, version, uuid, run }: NodeIdentity,
  isFirst: boolean,
): Promise<NodeHolder | null> {
  const id = nodeIdOf(name);
  const { rowCount } = await database.query(
    `INSERT INTO nodes AS n (id, name, version, uuid, run, started_at, last_seen)
       VALUES ($1, $2, $3, $4, $5, now(), now())
     ON CONFLICT (id) DO UPDATE SET version = excluded.version, uuid = excluded.uuid, run = excluded.run,
       started_at = CASE WHEN n.run = excluded.run THEN n.started_at ELSE now() END, last_seen = now(),
       state = CASE WHEN n.run = excluded.run THEN n.state ELSE 'starting' END, forgotten_at = NULL
     WHERE n.name = excluded.name AND (n.uuid IS NULL OR n.run IS NULL OR n.run = excluded.run
       OR n.uuid = excluded.uuid AND $6 OR abs(extract(epoch FROM now() - n.last_seen)) > ${SILENT_SECS})`,
    [id, name, version, uuid, run, isFirst],
  );
  if (rowCount === 1) return null;
  const { rows } = await database.query<NodeHolder>(
    'SELECT name, uuid, last_seen AS "lastSeen" FROM nodes WHERE id = $1',
    [id],
  );
  return rows[0] ?? null;
}

/** Releases a name if this process holds it. */
export async function releaseNode(database: Queryable, { name, run }: NodeIdentity): Promise<void> {
  await database.query('UPDATE nodes SET run = NULL, last_seen = now() WHERE id = $1 AND run = $2', [
    nodeIdOf(name),
    run,
  ]);
}
