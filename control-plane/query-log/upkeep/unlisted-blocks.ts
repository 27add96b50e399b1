/** SQL that selects the blocks that no top list counts yet, and marks them when they are counted. */
import type { LentClient, Queryable } from '../../storage/db/database.ts';
import { BlockReader } from '../block/block-reader.ts';
import { DamagedBlock } from '../block/block-layout.ts';
import { isOfOneGroup } from '../top-lists/block-tally.ts';
import {
  blockColumns,
  fetchBlock,
  momentInSql,
  numberInSql,
  type StoredBlock,
  toBlock,
} from '../search/stored-block.ts';
import type { BlockTransaction } from '../search/block-transaction.ts';
import { dateOf } from '../store/block-day.ts';
import { type BlocksOf, isOf } from './changed-concurrently.ts';

/** Key of a block within a day. */
export interface BlockPlace {
  readonly runId: number;
  readonly firstSeq: number;
}

/** Blocks of one node and one hour or day, which are added to top lists together. */
export interface FoldUnit {
  /** Days since 1970-01-01 in UTC. */
  readonly day: number;
  readonly nodeId: number;
  /** Start of the hour in Unix milliseconds; null = the whole day. */
  readonly hourMs: number | null;
}

/** Selects units that are due. */
export interface DueRequest {
  readonly nodeId: number;
  readonly whose: BlocksOf;
  /** Blocks to skip. */
  readonly spared: readonly BlockPlace[];
}

/**
 * An hour with fewer blocks gets no separate list: reading so few blocks is as fast as reading a list, and the list of
 * the day will count them.
 */
const MIN_BLOCKS_OF_HOUR = 4;
/** Blocks of an hour or a day are not added until this time after its end, so that small blocks are merged first. */
const REST = `interval '10 minutes'`;
const NOT_SPARED = `NOT EXISTS (SELECT FROM unnest($2::integer[], $3::bigint[]) AS spared (run_id, first_seq)
  WHERE spared.run_id = b.run_id AND spared.first_seq = b.first_seq)`;

/**
 * Hours and days whose blocks must be added to lists, oldest first: first hours that have many blocks or already have a
 * list, then days for all other blocks.
 */
export async function listDue(tx: Queryable, { nodeId, whose, spared }: DueRequest): Promise<FoldUnit[]> {
  const { rows } = await tx.query<{ day: number; node_id: number; hour_ms: number | null }>(
    `WITH hours AS (
       SELECT b.node_id, b.day, b.hour, count(*) AS blocks,
         EXISTS (SELECT FROM query_names AS list WHERE list.grain = 'h' AND list.start = b.hour
           AND list.node_id = b.node_id) AS has_list
       FROM query_blocks AS b JOIN query_runs AS run ON run.id = b.run_id
       WHERE b.listed IS NULL AND b.hour + interval '1 hour' + ${REST} < now()
         AND ${isOf('$1', '$4')} AND ${NOT_SPARED}
       GROUP BY b.node_id, b.day, b.hour
     ), due AS (
       SELECT node_id, day, CASE WHEN has_list OR blocks >= ${MIN_BLOCKS_OF_HOUR} THEN hour END AS hour FROM hours
       WHERE has_list OR blocks >= ${MIN_BLOCKS_OF_HOUR} OR (day + 1) AT TIME ZONE 'UTC' + ${REST} < now()
     )
     SELECT DISTINCT node_id, day - '1970-01-01'::date AS day, (extract(epoch FROM hour) * 1000)::bigint AS hour_ms
     FROM due ORDER BY day, hour_ms NULLS LAST, node_id`,
    [nodeId, ...placesOf(spared), whose],
  );
  return rows.map((row) => ({ day: row.day, nodeId: row.node_id, hourMs: row.hour_ms }));
}

/**
 * Ids of the nodes that have blocks of a day that no list counts, whether due or not. Blocks in `spared` are ignored.
 */
export async function nodesOfUnlisted(
  tx: Queryable,
  day: number,
  spared: readonly BlockPlace[],
): Promise<number[]> {
  const { rows } = await tx.query<{ node_id: number }>(
    `SELECT DISTINCT node_id FROM query_blocks AS b
     WHERE day = $1::date AND listed IS NULL AND ${NOT_SPARED} ORDER BY node_id`,
    [dateOf(day), ...placesOf(spared)],
  );
  return rows.map((row) => row.node_id);
}

/** Fetches the next blocks of a unit, with the pieces that are needed to count them. */
export async function fetchUnlisted(
  tx: BlockTransaction,
  { day, nodeId, hourMs }: FoldUnit,
  { after, limit }: { readonly after: BlockPlace | undefined; readonly limit: number },
): Promise<StoredBlock[]> {
  const ofHour = hourMs === null ? '' : `AND hour = ${momentInSql(hourMs * 1000)}`;
  const next =
    after === undefined
      ? ''
      : `AND (run_id, first_seq) > (${numberInSql(after.runId)}, ${numberInSql(after.firstSeq)})`;
  const rows = await tx.copyOut(
    `SELECT ${blockColumns(new Set(['names']))} FROM query_blocks
     WHERE day = '${dateOf(day)}'::date AND node_id = ${numberInSql(nodeId)} AND listed IS NULL ${ofHour} ${next}
     ORDER BY run_id, first_seq LIMIT ${numberInSql(limit)}`,
  );
  const blocks: StoredBlock[] = [];
  for (const row of rows) blocks.push(await withQueries(tx, toBlock(row)));
  return blocks;
}

/** The block; if the groups of its names cannot be determined from the head, with the queries piece. */
async function withQueries(tx: BlockTransaction, block: StoredBlock): Promise<StoredBlock> {
  try {
    if (isOfOneGroup(new BlockReader(block))) return block;
  } catch (error) {
    if (!(error instanceof DamagedBlock)) throw error;
    return block; // The block is damaged, which the caller reports when it counts the block.
  }
  return (await fetchBlock(tx, block, new Set(['names', 'queries']))) ?? block;
}

/** Marks blocks as counted by top lists; false if some blocks have changed, so that the caller must roll back. */
export async function markListed(
  client: LentClient,
  { day, hourMs }: FoldUnit,
  blocks: readonly StoredBlock[],
): Promise<boolean> {
  const { rows } = await client.query<{ row_count: number }>(
    `UPDATE query_blocks AS b SET listed = $4
     FROM unnest($2::integer[], $3::bigint[]) AS counted (run_id, first_seq)
     WHERE b.day = $1::date AND b.run_id = counted.run_id AND b.first_seq = counted.first_seq AND b.listed IS NULL
     RETURNING b.row_count`,
    [dateOf(day), ...placesOf(blocks), hourMs === null ? 'd' : 'h'],
  );
  const queries = rows.reduce((sum, row) => sum + row.row_count, 0);
  return rows.length === blocks.length && queries === blocks.reduce((sum, { rowCount }) => sum + rowCount, 0);
}

function placesOf(blocks: readonly BlockPlace[]): [number[], number[]] {
  return [blocks.map(({ runId }) => runId), blocks.map(({ firstSeq }) => firstSeq)];
}
