/** SQL of the blocks of a span of time, a few at a time, so that memory stays bounded however long the span is. */
import type { Queryable } from '../../db/database.ts';
import type { EncodedBlock } from '../block/block-layout.ts';
import type { BlockRange } from '../names/list-parts.ts';
import type { TimeSpan } from './block-filter.ts';

/** A stored block with its identity; pieces that were not asked for are empty. */
export interface StoredBlock extends EncodedBlock {
  readonly runId: number;
  readonly firstSeq: number;
  readonly nodeId: number;
}

/** What finds a block. */
export type BlockKey = Pick<StoredBlock, 'runId' | 'firstSeq' | 'hourUs'>;

/** A transaction that blocks are read in. */
export interface BlockTransaction extends Queryable {
  /** Called before each block: lets others have their turn, and throws once the answer is not wanted any more. */
  readonly turn?: () => Promise<void>;
}

/** Which blocks, and what of them. */
export interface BlockRequest extends TimeSpan {
  /** Only blocks of this node, or only of others. */
  readonly nodeId?: number | undefined;
  readonly notNodeId?: number | undefined;
  /** Besides the head. */
  readonly pieces: ReadonlySet<Piece>;
  /** Leave out blocks that lie wholly within the span. */
  readonly isPartialOnly?: boolean;
  /** Leave out blocks that lists of names count (`names/list-parts.ts`); by default none. */
  readonly unlisted?: BlockRange['unlisted'];
  /** Begin with the oldest, by their first query. */
  readonly isOldestFirst?: boolean;
}

export type Piece = 'names' | 'queries' | 'answers';

/** Blocks fetched at once: few at first, as a page of the newest rows needs no more. */
const FIRST_FETCH = 2;
const MOST_FETCHED = 32;

/** A block as the database gives it. */
export interface BlockRow {
  readonly run_id: number;
  readonly first_seq: number;
  readonly row_count: number;
  readonly node_id: number;
  readonly hour_us: number;
  readonly first_us: number;
  readonly last_us: number;
  readonly lengths: number[];
  readonly checksums: number[];
  readonly head: Buffer;
  readonly names: Buffer | null;
  readonly queries: Buffer | null;
  readonly answers: Buffer | null;
  readonly has_answers: boolean;
}

/** Blocks with queries in the span of parameters 1 and 2, of the nodes that 3 and 4 choose. */
const WITHIN = `day >= (${moment(1)} AT TIME ZONE 'UTC')::date AND day <= (${moment(2)} AT TIME ZONE 'UTC')::date
  AND last_time >= ${moment(1)} AND first_time < ${moment(2)}
  AND ($3::integer IS NULL OR node_id = $3) AND ($4::integer IS NULL OR node_id <> $4)`;
/** Those of them that lie wholly within it. */
const WHOLE = `first_time >= ${moment(1)} AND last_time < ${moment(2)}`;

const UNLISTED = { any: 'AND listed IS NULL', hour: `AND listed IS DISTINCT FROM 'h'` } as const;

/** The blocks with queries in the span, the newest first, by their last query, unless the oldest are wanted first. */
export async function* scanBlocks(tx: BlockTransaction, request: BlockRequest): AsyncGenerator<StoredBlock> {
  let after: BlockRow | undefined;
  for (let limit = FIRST_FETCH; ; limit = Math.min(limit * 2, MOST_FETCHED)) {
    const rows = await fetchBlocks(tx, request, after, limit);
    for (const row of rows) {
      await tx.turn?.();
      yield toBlock(row);
    }
    after = rows.at(-1);
    if (rows.length < limit) return;
  }
}

async function fetchBlocks(
  tx: Queryable,
  request: BlockRequest,
  after: BlockRow | undefined,
  limit: number,
): Promise<BlockRow[]> {
  const { fromUs, toUs, nodeId, notNodeId, pieces } = request;
  const { isPartialOnly = false, isOldestFirst = false, unlisted = null } = request;
  const [time, beyond, order] = isOldestFirst ? ['first_time', '>', 'ASC'] : ['last_time', '<', 'DESC'];
  const { rows } = await tx.query<BlockRow>(
    `SELECT ${blockColumns(pieces)} FROM query_blocks WHERE ${WITHIN}
       AND ($5::bigint IS NULL OR (${time}, run_id, first_seq) ${beyond} (${moment(5)}, $6::integer, $7::bigint))
       ${isPartialOnly ? `AND NOT (${WHOLE})` : ''} ${unlisted === null ? '' : UNLISTED[unlisted]}
     ORDER BY ${time} ${order}, run_id ${order}, first_seq ${order} LIMIT $8`,
    [
      fromUs,
      toUs,
      nodeId ?? null,
      notNodeId ?? null,
      (isOldestFirst ? after?.first_us : after?.last_us) ?? null,
      after?.run_id ?? null,
      after?.first_seq ?? null,
      limit,
    ],
  );
  return rows;
}

/** Number of queries of the blocks that lie wholly within the span. */
export async function countWholeBlocks(
  tx: Queryable,
  { fromUs, toUs, nodeId, notNodeId }: Omit<BlockRequest, 'pieces'>,
): Promise<number> {
  const { rows } = await tx.query<{ total: number }>(
    `SELECT coalesce(sum(row_count), 0)::bigint AS total FROM query_blocks WHERE ${WITHIN} AND ${WHOLE}`,
    [fromUs, toUs, nodeId ?? null, notNodeId ?? null],
  );
  return rows[0]!.total;
}

/** A block with these pieces; null if it was merged into another meanwhile. */
export async function fetchBlock(
  tx: Queryable,
  block: BlockKey,
  pieces: ReadonlySet<Piece>,
): Promise<StoredBlock | null> {
  const { rows } = await tx.query<BlockRow>(
    `SELECT ${blockColumns(pieces)} FROM query_blocks
     WHERE day = (${moment(1)} AT TIME ZONE 'UTC')::date AND run_id = $2 AND first_seq = $3`,
    [block.hourUs, block.runId, block.firstSeq],
  );
  return rows[0] === undefined ? null : toBlock(rows[0]);
}

/** The block that a row of a run is in; null if there is none any more. */
export async function fetchBlockOf(
  tx: Queryable,
  { runId, seq, hourUs }: { runId: number; seq: number; hourUs: number },
  pieces: ReadonlySet<Piece>,
): Promise<StoredBlock | null> {
  const { rows } = await tx.query<BlockRow>(
    `SELECT ${blockColumns(pieces)} FROM query_blocks
     WHERE day = (${moment(1)} AT TIME ZONE 'UTC')::date AND run_id = $2 AND first_seq <= $3
     ORDER BY first_seq DESC LIMIT 1`,
    [hourUs, runId, seq],
  );
  const [row] = rows;
  return row === undefined || seq >= row.first_seq + row.row_count ? null : toBlock(row);
}

/** The columns of a `BlockRow` with these pieces. */
export function blockColumns(pieces: ReadonlySet<Piece>): string {
  const piece = (name: Piece): string => (pieces.has(name) ? name : `NULL::bytea AS ${name}`);
  return `run_id, first_seq, row_count, node_id, ${micros('hour')} AS hour_us, ${micros('first_time')} AS first_us,
    ${micros('last_time')} AS last_us, lengths, checksums, head, ${piece('names')}, ${piece('queries')},
    ${piece('answers')}, answers IS NOT NULL AS has_answers`;
}

function micros(column: string): string {
  return `(extract(epoch FROM ${column}) * 1000000)::bigint`;
}

function moment(place: number): string {
  return `('epoch'::timestamptz + $${place}::bigint * interval '1 microsecond')`;
}

const EMPTY = Buffer.alloc(0);

/** The block of a row. */
export function toBlock(row: BlockRow): StoredBlock {
  return {
    runId: row.run_id,
    firstSeq: row.first_seq,
    nodeId: row.node_id,
    rowCount: row.row_count,
    hourUs: row.hour_us,
    firstUs: row.first_us,
    lastUs: row.last_us,
    lengths: row.lengths,
    checksums: row.checksums,
    head: row.head,
    names: row.names ?? EMPTY,
    queries: row.queries ?? EMPTY,
    answers: row.answers ?? (row.has_answers ? EMPTY : null),
  };
}
