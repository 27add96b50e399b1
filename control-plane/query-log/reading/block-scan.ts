/** SQL of the blocks of a span of time, a few at a time, so that memory stays bounded however long the span is. */
import { type BinaryRow, int4sOf, int8Of } from '../../db/copy/copy-out.ts';
import type { Queryable, CopyQueryable } from '../../db/database.ts';
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
export interface BlockTransaction extends CopyQueryable {
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
const FIRST_FETCH = 1;
const MOST_FETCHED = 32;
/** Bytes fetched at once, about: blocks are as large as those before them. */
const FETCHED_BYTES = 4 * 1024 * 1024;

const UNLISTED = { any: 'AND listed IS NULL', hour: `AND listed IS DISTINCT FROM 'h'` } as const;

/** The blocks with queries in the span, the newest first, by their last query, unless the oldest are wanted first. */
export async function* scanBlocks(tx: BlockTransaction, request: BlockRequest): AsyncGenerator<StoredBlock> {
  let after: StoredBlock | undefined;
  for (let limit = FIRST_FETCH; ;) {
    const blocks = await fetchBlocks(tx, request, after, limit);
    for (const block of blocks) {
      await tx.turn?.();
      yield block;
    }
    after = blocks.at(-1);
    if (blocks.length < limit) return;
    const mostBytes = Math.max(...blocks.map(sizeOf));
    limit = Math.max(1, Math.min(limit * 2, MOST_FETCHED, Math.floor(FETCHED_BYTES / mostBytes)));
  }
}

function sizeOf({ head, names, queries, answers }: StoredBlock): number {
  return head.length + names.length + queries.length + (answers?.length ?? 0);
}

async function fetchBlocks(
  tx: BlockTransaction,
  request: BlockRequest,
  after: StoredBlock | undefined,
  limit: number,
): Promise<StoredBlock[]> {
  const { pieces, isPartialOnly = false, isOldestFirst = false, unlisted = null } = request;
  const [time, beyond, order] = isOldestFirst ? ['first_time', '>', 'ASC'] : ['last_time', '<', 'DESC'];
  const rows = await tx.copyOut(
    `SELECT ${blockColumns(pieces)} FROM query_blocks WHERE ${within(request)}
       ${after === undefined ? '' : `AND (${time}, run_id, first_seq) ${beyond} (${placeInSql(after, isOldestFirst)})`}
       ${isPartialOnly ? `AND NOT (${whole(request)})` : ''} ${unlisted === null ? '' : UNLISTED[unlisted]}
     ORDER BY ${time} ${order}, run_id ${order}, first_seq ${order} LIMIT ${numberInSql(limit)}`,
  );
  return rows.map(toBlock);
}

/** The place of a block in the order of a scan. */
function placeInSql({ firstUs, lastUs, runId, firstSeq }: StoredBlock, isOldestFirst: boolean): string {
  return [momentInSql(isOldestFirst ? firstUs : lastUs), numberInSql(runId), numberInSql(firstSeq)].join(
    ', ',
  );
}

/** Number of queries of the blocks that lie wholly within the span. */
export async function countWholeBlocks(tx: Queryable, which: Omit<BlockRequest, 'pieces'>): Promise<number> {
  const { rows } = await tx.query<{ total: number }>(
    `SELECT coalesce(sum(row_count), 0)::bigint AS total FROM query_blocks WHERE ${within(which)} AND ${whole(which)}`,
  );
  return rows[0]!.total;
}

/** A block with these pieces; null if it was merged into another meanwhile. */
export async function fetchBlock(
  tx: BlockTransaction,
  block: BlockKey,
  pieces: ReadonlySet<Piece>,
): Promise<StoredBlock | null> {
  const [row] = await tx.copyOut(
    `SELECT ${blockColumns(pieces)} FROM query_blocks WHERE day = ${dayOf(block.hourUs)}
       AND run_id = ${numberInSql(block.runId)} AND first_seq = ${numberInSql(block.firstSeq)}`,
  );
  return row === undefined ? null : toBlock(row);
}

/** The block that a row of a run is in; null if there is none any more. */
export async function fetchBlockOf(
  tx: BlockTransaction,
  { runId, seq, hourUs }: { runId: number; seq: number; hourUs: number },
  pieces: ReadonlySet<Piece>,
): Promise<StoredBlock | null> {
  const [row] = await tx.copyOut(
    `SELECT ${blockColumns(pieces)} FROM query_blocks WHERE day = ${dayOf(hourUs)}
       AND run_id = ${numberInSql(runId)} AND first_seq <= ${numberInSql(seq)} ORDER BY first_seq DESC LIMIT 1`,
  );
  const block = row === undefined ? null : toBlock(row);
  return block === null || seq >= block.firstSeq + block.rowCount ? null : block;
}

type Which = Pick<BlockRequest, 'fromUs' | 'toUs' | 'nodeId' | 'notNodeId'>;

/** Condition on blocks with queries in a span, of the nodes that are wanted. */
function within({ fromUs, toUs, nodeId, notNodeId }: Which): string {
  return [
    `day >= ${dayOf(fromUs)} AND day <= ${dayOf(toUs)}`,
    `last_time >= ${momentInSql(fromUs)} AND first_time < ${momentInSql(toUs)}`,
    ...(nodeId === undefined ? [] : [`node_id = ${numberInSql(nodeId)}`]),
    ...(notNodeId === undefined ? [] : [`node_id <> ${numberInSql(notNodeId)}`]),
  ].join(' AND ');
}

/** Condition on blocks that lie wholly within a span. */
function whole({ fromUs, toUs }: Which): string {
  return `first_time >= ${momentInSql(fromUs)} AND last_time < ${momentInSql(toUs)}`;
}

/** What `toBlock()` takes, with these pieces. */
export function blockColumns(pieces: ReadonlySet<Piece>): string {
  const piece = (name: Piece): string => (pieces.has(name) ? name : 'NULL::bytea');
  return `run_id, first_seq, row_count, node_id, ${microsInSql('hour')}, ${microsInSql('first_time')}, ${microsInSql('last_time')},
    lengths, checksums, head, ${piece('names')}, ${piece('queries')}, ${piece('answers')}, answers IS NOT NULL`;
}

/** A column of times as microseconds since 1970. */
export function microsInSql(column: string): string {
  return `(extract(epoch FROM ${column}) * 1000000)::bigint`;
}

/** Microseconds since 1970 as a time in SQL. */
export function momentInSql(us: number): string {
  return `('epoch'::timestamptz + ${numberInSql(us)}::bigint * interval '1 microsecond')`;
}

/** The day of a time, in UTC. */
function dayOf(us: number): string {
  return `(${momentInSql(us)} AT TIME ZONE 'UTC')::date`;
}

/** A number in SQL. @throws {RangeError} for what is none */
export function numberInSql(value: number): string {
  if (!Number.isInteger(value)) throw new RangeError(`read blocks: ${value} is no whole number`);
  return String(value);
}

const EMPTY = Buffer.alloc(0);

/** The block of a row of `blockColumns()`. */
export function toBlock(row: BinaryRow): StoredBlock {
  const [runId, firstSeq, rowCount, nodeId, hourUs, firstUs, lastUs, lengths, checksums, head] = row;
  const [names, queries, answers, hasAnswers] = row.slice(10);
  return {
    runId: runId!.readInt32BE(),
    firstSeq: int8Of(firstSeq!),
    rowCount: rowCount!.readInt32BE(),
    nodeId: nodeId!.readInt32BE(),
    hourUs: int8Of(hourUs!),
    firstUs: int8Of(firstUs!),
    lastUs: int8Of(lastUs!),
    lengths: int4sOf(lengths!),
    checksums: int4sOf(checksums!),
    head: head!,
    names: names ?? EMPTY,
    queries: queries ?? EMPTY,
    answers: answers ?? (hasAnswers![0] === 1 ? EMPTY : null),
  };
}
