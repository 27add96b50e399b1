/** SQL of small blocks: finds those that can be merged, reads their content, and replaces them. */
import type { LentClient, Queryable } from '../../storage/db/database.ts';
import { type EncodedBlock, MAX_BLOCK_ROWS } from '../block/block-layout.ts';
import type { UsedByCode } from '../block/log-block.ts';
import { microsInSql } from '../search/stored-block.ts';
import { dateOf } from '../store/block-day.ts';
import { insertRow } from '../store/block-store.ts';
import { type BlocksOf, ChangedConcurrently, isOf } from './changed-concurrently.ts';

/**
 * Adjacent blocks: each starts with the query that follows the last query of the previous block, and the same top lists
 * count all of them (`unlisted-blocks.ts`).
 */
export interface Neighbours {
  /** Days since 1970-01-01 in UTC. */
  readonly day: number;
  readonly runId: number;
  readonly nodeId: number;
  /** Sequence number of the first query of each block. */
  readonly firstSeqs: readonly number[];
  readonly rowCounts: readonly number[];
  /** Stored size of each block in bytes. */
  readonly sizes: readonly number[];
}

/** Selects blocks. */
export interface SmallRequest {
  readonly day: number;
  readonly nodeId: number;
  readonly whose: BlocksOf;
  /** Blocks to skip. */
  readonly spared: readonly { readonly runId: number; readonly firstSeq: number }[];
  /** Maximum number of chains of adjacent blocks. */
  readonly limit: number;
}

/** Blocks with fewer queries are small. */
const SMALL_ROWS = 16_384;
/**
 * Before the end of their hour, blocks are merged only if there are this many of similar size, so that few blocks are
 * rewritten repeatedly.
 */
const FULL_CHAIN = 16;
const SIZE_STEPS = '{64,1024}';
/**
 * Maximum number of blocks, and of their stored bytes, that are merged into one, because all of them are in memory at
 * the same time.
 */
const MAX_PARTS = 256;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * A block is not merged until this time after it was written, and an hour is not complete until this time after its
 * end.
 */
const REST = `interval '1 minute'`;

const SMALL = `SELECT b.run_id, b.node_id, b.hour, b.first_seq, b.row_count, b.listed,
    (SELECT sum(length) FROM unnest(b.lengths) AS length)::integer AS size,
    b.hour + interval '1 hour' + ${REST} < now() AS is_over, width_bucket(b.row_count, '${SIZE_STEPS}'::integer[]) AS step
  FROM query_blocks AS b JOIN query_runs AS run ON run.id = b.run_id
  WHERE b.day = $1::date AND b.row_count < ${SMALL_ROWS} AND b.last_time < now() - ${REST}
    AND ${isOf('$2', '$6')}
    AND NOT EXISTS (SELECT FROM unnest($3::integer[], $4::bigint[]) AS spared (run_id, first_seq)
      WHERE spared.run_id = b.run_id AND spared.first_seq = b.first_seq)`;

/** Blocks of a day that can be merged, as chains of two or more. */
export async function listNeighbours(tx: Queryable, request: SmallRequest): Promise<Neighbours[]> {
  const { day, nodeId, whose, spared, limit } = request;
  const { rows } = await tx.query<{
    run_id: number;
    node_id: number;
    first_seqs: number[];
    row_counts: number[];
    sizes: number[];
  }>(
    `WITH small AS (${SMALL}), marked AS (
       SELECT *, lag(first_seq + row_count) OVER w IS DISTINCT FROM first_seq OR lag(node_id) OVER w <> node_id
         OR lag(listed) OVER w IS DISTINCT FROM listed OR (NOT is_over AND lag(step) OVER w <> step) AS is_start
       FROM small WINDOW w AS (PARTITION BY run_id, hour ORDER BY first_seq)
     ), chained AS (
       SELECT *, count(*) FILTER (WHERE is_start) OVER (PARTITION BY run_id, hour ORDER BY first_seq) AS chain FROM marked
     )
     SELECT run_id, node_id, array_agg(first_seq ORDER BY first_seq) AS first_seqs,
       array_agg(row_count ORDER BY first_seq) AS row_counts, array_agg(size ORDER BY first_seq) AS sizes
     FROM chained GROUP BY run_id, node_id, hour, is_over, chain
     HAVING count(*) >= CASE WHEN is_over THEN 2 ELSE ${FULL_CHAIN} END
     ORDER BY run_id, hour, chain LIMIT $5`,
    [
      dateOf(day),
      nodeId,
      spared.map(({ runId }) => runId),
      spared.map(({ firstSeq }) => firstSeq),
      limit,
      whose,
    ],
  );
  return rows.map((row) => ({
    day,
    runId: row.run_id,
    nodeId: row.node_id,
    firstSeqs: row.first_seqs,
    rowCounts: row.row_counts,
    sizes: row.sizes,
  }));
}

/** Cuts a chain into pieces that fit into one block each. */
export function cutNeighbours(chain: Neighbours): Neighbours[] {
  const pieces: Neighbours[] = [];
  const { firstSeqs, rowCounts, sizes } = chain;
  for (let from = 0, to = 0; from < firstSeqs.length; from = to) {
    let rows = 0;
    let bytes = 0;
    for (; to < firstSeqs.length && to - from < MAX_PARTS; to++) {
      rows += rowCounts[to]!;
      bytes += sizes[to]!;
      if (to > from && (rows > MAX_BLOCK_ROWS || bytes > MAX_BYTES)) break;
    }
    const part = <T>(all: readonly T[]): T[] => all.slice(from, to);
    const piece = { firstSeqs: part(firstSeqs), rowCounts: part(rowCounts), sizes: part(sizes) };
    if (to - from > 1) pieces.push({ ...chain, ...piece });
  }
  return pieces;
}

/** Reads the blocks of a chain, in order; blocks that no longer exist are missing. */
export async function readParts(
  tx: Queryable,
  { day, runId, firstSeqs }: Neighbours,
): Promise<EncodedBlock[]> {
  const { rows } = await tx.query<EncodedBlock>(
    `SELECT row_count AS "rowCount", ${microsInSql('hour')} AS "hourUs", ${microsInSql('first_time')} AS "firstUs",
       ${microsInSql('last_time')} AS "lastUs", repeats, lengths, checksums, head, names, queries, answers
     FROM query_blocks WHERE day = $1::date AND run_id = $2 AND first_seq = ANY($3::bigint[]) ORDER BY first_seq`,
    [dateOf(day), runId, firstSeqs],
  );
  return rows;
}

/** Replaces all the blocks with one, in the caller's transaction. @throws {ChangedConcurrently} */
export async function replaceParts(
  client: LentClient,
  parts: Neighbours,
  merged: EncodedBlock,
): Promise<void> {
  const { day, runId, nodeId, firstSeqs } = parts;
  const { rows } = await client.query<{
    row_count: number;
    repeats: number;
    listed: string | null;
    used_by: UsedByCode;
  }>(
    `DELETE FROM query_blocks WHERE day = $1::date AND run_id = $2 AND first_seq = ANY($3::bigint[])
     RETURNING row_count, repeats, listed, used_by`,
    [dateOf(day), runId, firstSeqs],
  );
  const gone = rows.reduce((sum, row) => sum + row.row_count, 0);
  const goneRepeats = rows.reduce((sum, row) => sum + row.repeats, 0);
  const listed = rows[0]?.listed ?? null;
  const isOfOneState = rows.every((row) => row.listed === listed);
  if (
    rows.length !== firstSeqs.length ||
    gone !== merged.rowCount ||
    goneRepeats !== merged.repeats ||
    !isOfOneState
  )
    throw new ChangedConcurrently('could not merge blocks of the query log: another node changed them first');
  // `used_by` is the same for all blocks of a run.
  const { used_by: usedBy } = rows[0]!;
  await insertRow(client, merged, { runId, firstSeq: firstSeqs[0]!, nodeId, usedBy, listed });
}
