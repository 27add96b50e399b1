/** SQL that selects, reads and replaces the blocks of a clear. */
import type { CopyQueryable, LentClient, Queryable } from '../../storage/db/database.ts';
import type { EncodedBlock } from '../block/block-layout.ts';
import { UsedBy, type UsedByCode } from '../block/log-block.ts';
import {
  fetchPieces,
  momentInSql,
  type Piece,
  ROW_COLUMNS,
  type StoredBlock,
  toBlock,
} from '../search/stored-block.ts';
import type { ClearScope } from '../search/cut-block.ts';
import { dateOf } from '../store/block-day.ts';
import { insertRow, noteStored } from '../store/block-store.ts';

/** A block without its content, with its users and the top lists that count it. */
export interface ClearBlock extends StoredBlock {
  readonly usedBy: UsedByCode;
  /** Top lists that count the block; see migrations/0001_schema.sql. */
  readonly listed: 'h' | 'd' | null;
}

/** A run for remaining rows, which get new sequence numbers: one for each run with removed rows. */
export interface RemainderRun {
  readonly key: string;
  nextSeq: number;
}

/** Blocks of a day with rows in the span, by node and hour. Days count from 1970-01-01 in UTC. */
export async function listBlocks(tx: CopyQueryable, day: number, scope: ClearScope): Promise<ClearBlock[]> {
  const rows = await tx.copyOut(
    `SELECT ${ROW_COLUMNS}, NULL::bytea, NULL::bytea, NULL::bytea, NULL::bytea, used_by, listed FROM query_blocks
     WHERE day = '${dateOf(day)}'::date AND last_time >= ${momentInSql(scope.fromUs)}
       AND first_time < ${momentInSql(scope.toUs)} ORDER BY node_id, hour, run_id, first_seq`,
  );
  return rows.map((row) => ({
    ...toBlock(row),
    usedBy: row[15]!.toString('latin1') as UsedByCode,
    listed: (row[16]?.toString('latin1') ?? null) as ClearBlock['listed'],
  }));
}

/** The requested pieces of some of the blocks; blocks that no longer exist are omitted. */
export async function fetchBlocks(
  tx: CopyQueryable,
  blocks: readonly ClearBlock[],
  pieces: readonly Piece[],
): Promise<ClearBlock[]> {
  const wanted = blocks.map((block) => ({ block, pieces: new Set(pieces) }));
  const fetched = await fetchPieces(tx, wanted);
  return fetched.map((block) => block as ClearBlock);
}

/** Whether top lists count the block. */
export function isCounted({ usedBy, listed }: ClearBlock): boolean {
  return usedBy !== UsedBy.LOG && listed !== null;
}

/** Deletes blocks of a day; false if one is no longer as listed, and the caller must then roll back. */
export async function deleteBlocks(
  client: Queryable,
  day: number,
  blocks: readonly ClearBlock[],
): Promise<boolean> {
  const { rowCount } = await client.query(
    `DELETE FROM query_blocks AS b USING unnest($2::integer[], $3::bigint[], $4::integer[], $5::text[])
       AS known (run_id, first_seq, row_count, listed)
     WHERE b.day = $1::date AND b.run_id = known.run_id AND b.first_seq = known.first_seq
       AND b.row_count = known.row_count AND b.listed::text IS NOT DISTINCT FROM known.listed`,
    [
      dateOf(day),
      blocks.map(({ runId }) => runId),
      blocks.map(({ firstSeq }) => firstSeq),
      blocks.map(({ rowCount: rows }) => rows),
      blocks.map(({ listed }) => listed),
    ],
  );
  return rowCount === blocks.length;
}

/**
 * Stores the rest of a block with new sequence numbers, so that an id that a user has seen never refers to another row.
 * Returns the next unused number, which is valid once the transaction is committed.
 */
export async function insertRemainder(
  client: LentClient,
  { nodeId, usedBy, listed }: ClearBlock,
  left: EncodedBlock,
  run: { readonly key: string; readonly firstSeq: number },
): Promise<number> {
  const { key: runKey, firstSeq } = run;
  const rows = { runKey, part: undefined, firstSeq, rowCount: left.rowCount };
  const { runId } = await noteStored(client, rows, { nodeId, nextSeq: 0 });
  await insertRow(client, left, { runId, firstSeq, nodeId, usedBy, listed });
  return firstSeq + left.rowCount;
}
