/**
 * Handles late rows: rows that a clear covers but that arrive after it, from a ring, a spool or a node that was
 * disconnected. They are removed from their block before the block is stored, but still count in statistics.
 */
import type { Queryable } from '../../storage/db/database.ts';
import { BlockReader } from '../block/block-reader.ts';
import { type LogBlock, UsedBy } from '../block/log-block.ts';
import { type ClearScope, type CutBlock, cutBlock, type RemovedRows } from '../search/cut-block.ts';
import { microsInSql } from '../search/stored-block.ts';

/** Columns that define the scope of a clear. */
export const SCOPE_COLUMNS = `id, ${microsInSql('from_time')} AS from_us, ${microsInSql('to_time')} AS to_us, client_ids,
  ARRAY(SELECT host(a) FROM unnest(addresses) a) AS addresses`;

/** A row with these columns. */
export interface ScopeRow {
  readonly id: number;
  readonly from_us: number | null;
  readonly to_us: number;
  readonly client_ids: readonly number[] | null;
  readonly addresses: readonly string[];
}

/** The rows that a clear removes. */
export function scopeOf({ from_us: fromUs, to_us: toUs, client_ids: ids, addresses }: ScopeRow): ClearScope {
  return { fromUs: fromUs ?? 0, toUs, device: ids === null ? null : { ids, addresses } };
}

/**
 * The block without the rows that were cleared; null if no row was cleared. The caller's transaction must have written
 * to `query_runs`: a clear that is not visible here then starts after this transaction has ended. @throws
 * {DamagedBlock}
 */
export async function cutLateRows(tx: Queryable, block: LogBlock): Promise<CutBlock | null> {
  const { rows } = await tx.query<ScopeRow>(
    `SELECT ${SCOPE_COLUMNS} FROM query_log_clears
     WHERE to_time > ${moment(1)} AND (from_time IS NULL OR from_time <= ${moment(2)}) ORDER BY id`,
    [block.firstUs, block.lastUs],
  );
  if (rows.length === 0) return null;
  const cut = await cutBlock(new BlockReader(block), rows.map(scopeOf));
  // If several clears apply, the removed rows are added to the figures of the oldest clear. Rows that are only for
  // statistics are never shown, so they do not count.
  if (cut !== null && block.part?.usedBy !== UsedBy.STATS) await noteRemoved(tx, rows[0]!.id, cut.removed);
  return cut;
}

/**
 * Adds removed rows to the figures of a clear. Must be the last statement of a transaction, because other transactions
 * wait for the locked row.
 */
export async function noteRemoved(
  tx: Queryable,
  clearId: number,
  { rows, firstUs, lastUs }: RemovedRows,
  blocksDone = 0,
): Promise<void> {
  await tx.query(
    `UPDATE query_log_clears SET rows = rows + $2, blocks_done = blocks_done + $5,
       first_time = CASE WHEN $2 = 0 THEN first_time ELSE least(first_time, ${moment(3)}) END,
       last_time = CASE WHEN $2 = 0 THEN last_time ELSE greatest(last_time, ${moment(4)}) END WHERE id = $1`,
    [clearId, rows, firstUs, lastUs, blocksDone],
  );
}

/** SQL that converts parameter number `place`, in microseconds since 1970, to a timestamp. */
function moment(place: number): string {
  return `('epoch'::timestamptz + $${place}::bigint * interval '1 microsecond')`;
}
