/** SQL of `query_log_clears`: requests of administrators to delete queries from the log. */
import type { QueryLogClear } from '../../../shared/api/clearing/query-log-clears-api.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { type ClearRow, COLUMNS, toClear } from './clear-view.ts';
import { SCOPE_COLUMNS, type ScopeRow, scopeOf } from '../store/late-rows.ts';
import type { ClearScope } from '../search/cut-block.ts';

/** A clear that an administrator requests. */
export interface WantedClear {
  readonly by: string;
  /** Null = from the first row on. */
  readonly from: Date | null;
  readonly to: Date;
  /** Null = all clients. */
  readonly client: {
    readonly id: number;
    /** Ids of all configured clients of the same device. */
    readonly ids: readonly number[];
    readonly name: string;
    readonly addresses: readonly string[];
  } | null;
}

/** A clear that is not complete. */
export interface OpenClear extends ClearScope {
  readonly id: number;
}

/** Maximum number of clears that the API lists. */
const MAX_LISTED = 100;
/** Milliseconds for which a clear waits for blocks that are being stored. */
const LOCK_MS = 10_000;

/**
 * Stores a clear. First waits for blocks that are being stored: a block is either committed before the clear, which
 * then finds it, or its transaction sees the clear and removes the rows (`cutLateRows`).
 */
export async function insertClear(
  tx: Queryable,
  { by, from, to, client }: WantedClear,
): Promise<QueryLogClear> {
  await tx.query(`SET LOCAL lock_timeout = ${LOCK_MS}`);
  await tx.query('LOCK TABLE query_runs IN SHARE MODE');
  const { rows } = await tx.query<ClearRow>(
    `INSERT INTO query_log_clears (created_by, from_time, to_time, client_id, client_ids, client_name, addresses)
     VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${COLUMNS}`,
    [by, from, to, client?.id ?? null, client?.ids ?? null, client?.name ?? null, client?.addresses ?? null],
  );
  return toClear(rows[0]!);
}

/** The most recent clears, newest first. */
export async function readClears(db: Queryable): Promise<QueryLogClear[]> {
  const { rows } = await db.query<ClearRow>(
    `SELECT ${COLUMNS} FROM query_log_clears ORDER BY id DESC LIMIT ${MAX_LISTED}`,
  );
  return rows.map(toClear);
}

/** The oldest clear that is not complete; null if all are. */
export async function nextOpenClear(db: Queryable): Promise<OpenClear | null> {
  const { rows } = await db.query<ScopeRow>(
    `SELECT ${SCOPE_COLUMNS} FROM query_log_clears WHERE done_at IS NULL ORDER BY id LIMIT 1`,
  );
  return rows[0] === undefined ? null : { id: rows[0].id, ...scopeOf(rows[0]) };
}

/** Records how many blocks a pass reads. */
export async function beginPass(db: Queryable, id: number, blocks: number): Promise<void> {
  await db.query('UPDATE query_log_clears SET blocks = $2, blocks_done = 0 WHERE id = $1', [id, blocks]);
}

/** Counts blocks from which nothing was removed. */
export async function notePassed(db: Queryable, id: number, blocks: number): Promise<void> {
  await db.query('UPDATE query_log_clears SET blocks_done = blocks_done + $2 WHERE id = $1', [id, blocks]);
}

/** Records that all rows are removed. */
export async function endClear(db: Queryable, id: number): Promise<void> {
  await db.query('UPDATE query_log_clears SET done_at = now() WHERE id = $1 AND done_at IS NULL', [id]);
}

/** Deletes clears that are so old that no statistics and no late rows of their time remain. */
export async function deleteOldClears(db: Queryable, before: Date): Promise<void> {
  await db.query('DELETE FROM query_log_clears WHERE done_at IS NOT NULL AND to_time < $1', [before]);
}
