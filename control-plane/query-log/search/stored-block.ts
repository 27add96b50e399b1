/** Fetches parts of single blocks by SQL, and converts database rows to blocks. `block-scan.ts` selects the blocks. */
import { type BinaryRow, int4sOf, int8Of } from '../../storage/db/copy/copy-out.ts';
import type { CopyQueryable } from '../../storage/db/database.ts';
import { type BlockHead, type EncodedBlock, Frame } from '../block/block-layout.ts';
import { UsedBy } from '../block/log-block.ts';
import type { KnownNames } from '../top-lists/name-book.ts';

/** A stored block with its identity; pieces that were not requested are empty. */
export interface StoredBlock extends EncodedBlock {
  readonly runId: number;
  readonly firstSeq: number;
  readonly nodeId: number;
  /** Data from an earlier read (`log-memory.ts`). */
  readonly known?: KnownBlock;
}

/** Cached data of a block. */
export interface KnownBlock {
  readonly head: BlockHead;
  names?: KnownNames;
  /** Whether the names were read before; the second read caches them. */
  wereNamesRead?: boolean;
}

/** Key of a block. */
export type BlockKey = Pick<StoredBlock, 'runId' | 'firstSeq' | 'hourUs'>;

/** Frames of a block that are fetched together. */
export type Piece =
  'head' | 'texts' | 'names' | 'times' | 'nameOf' | 'clientOf' | 'outcomeOf' | 'queries' | 'answers';

/** The first and the last frame of each piece. */
const FRAMES_OF: Readonly<Record<Piece, readonly [first: number, last: number]>> = {
  head: [Frame.HEAD, Frame.HEAD],
  texts: [Frame.NAME_TEXTS, Frame.NAME_TEXTS],
  names: [Frame.NAME_TEXTS, Frame.NAME_NUMBERS],
  times: [Frame.TIMES, Frame.TIMES],
  nameOf: [Frame.NAMES, Frame.NAMES],
  clientOf: [Frame.CLIENTS, Frame.CLIENTS],
  outcomeOf: [Frame.OUTCOMES, Frame.OUTCOMES],
  queries: [Frame.TIMES, Frame.RESPONSE_TIMES],
  answers: [Frame.ANSWERS, Frame.ANSWER_RECORDS],
};
/** The pieces that each column of the table contains. */
const NAMES: readonly Piece[] = ['texts', 'names'];
const QUERIES: readonly Piece[] = ['times', 'nameOf', 'clientOf', 'outcomeOf', 'queries'];

const COLUMNS: readonly (readonly Piece[])[] = [['head'], NAMES, QUERIES, ['answers']];

/** Location of a part of a column. */
interface Slice {
  readonly firstFrame: number;
  /** Position of the first byte; the first byte of the column is 1, as in SQL. */
  readonly start: number;
  readonly length: number;
}

const NOTHING: Slice = { firstFrame: 0, start: 1, length: 0 };
/** Maximum size of a column in PostgreSQL. */
const MAX_BYTES = 0x3fff_ffff;

/**
 * Location of the bytes from the first to the last frame of these pieces, in a column whose first frame is
 * `columnFrame`.
 */
function sliceOf(
  { lengths }: Pick<EncodedBlock, 'lengths'>,
  pieces: ReadonlySet<Piece>,
  column: readonly Piece[],
): Slice {
  const ranges = column.filter((piece) => pieces.has(piece)).map((piece) => FRAMES_OF[piece]);
  if (ranges.length === 0) return NOTHING;
  const firstFrame = Math.min(...ranges.map(([first]) => first));
  const lastFrame = Math.max(...ranges.map(([, last]) => last));
  const columnFrame = FRAMES_OF[column[0]!][0];
  // Any number in a stored block may be wrong; the reader of the frame detects that.
  const bytes = (from: number, to: number): number =>
    lengths.slice(from, to).reduce((sum, length) => Math.min(MAX_BYTES, sum + Math.max(0, length)), 0);
  const length = bytes(firstFrame, lastFrame + 1);
  return { firstFrame, start: 1 + bytes(columnFrame, firstFrame), length };
}

/** A part of a block. */
export interface Wanted {
  /** The block without its content. */
  readonly block: StoredBlock;
  readonly pieces: ReadonlySet<Piece>;
}

/** Approximate size of a block with these pieces. */
export function sizeOf({ block, pieces }: Wanted): number {
  return COLUMNS.reduce((sum, column) => sum + sliceOf(block, pieces, column).length, 0);
}

/** The blocks with the requested pieces of each, in the same order; blocks that no longer exist are omitted. */
export async function fetchPieces(tx: CopyQueryable, wanted: readonly Wanted[]): Promise<StoredBlock[]> {
  if (wanted.length === 0) return [];
  const days = Map.groupBy(wanted, ({ block }) => dayOf(block.hourUs));
  const queries = [...days].map(([day, ofDay]) => piecesSql(day, ofDay));
  const found = new Map<string, readonly (Buffer | null)[]>();
  for (const [runId, firstSeq, ...columns] of await tx.copyOut(queries.join(' UNION ALL ')))
    found.set(keyOf({ runId: runId!.readInt32BE(), firstSeq: int8Of(firstSeq!) }), columns);
  return wanted.flatMap(({ block, pieces }) => {
    const columns = found.get(keyOf(block));
    if (columns === undefined) return [];
    const [head, names, queriesColumn, answers] = columns;
    const firstFrames = {
      names: sliceOf(block, pieces, NAMES).firstFrame,
      queries: sliceOf(block, pieces, QUERIES).firstFrame,
    };
    return {
      ...block,
      firstFrames,
      head: head ?? EMPTY,
      names: names ?? EMPTY,
      queries: queriesColumn ?? EMPTY,
      answers: answers ?? block.answers,
    };
  });
}

function keyOf({ runId, firstSeq }: Pick<StoredBlock, 'runId' | 'firstSeq'>): string {
  return `${runId}.${firstSeq}`;
}

function piecesSql(day: string, wanted: readonly Wanted[]): string {
  const values = wanted.map(({ block, pieces }) => {
    const [head, names, queries, answers] = COLUMNS.map((column) => sliceOf(block, pieces, column));
    const numbers = [names!.start, names!.length, queries!.start, queries!.length];
    const isWanted = [head!.length > 0, answers!.length > 0].join(',');
    return `(${[block.runId, block.firstSeq, ...numbers].map(numberInSql).join(',')},${isWanted})`;
  });
  return `SELECT b.run_id, b.first_seq, CASE WHEN v.head THEN b.head END,
      CASE WHEN v.b > 0 THEN substr(b.names, v.a, v.b) END, CASE WHEN v.d > 0 THEN substr(b.queries, v.c, v.d) END,
      CASE WHEN v.answers THEN b.answers END
    FROM (VALUES ${values.join(',')}) AS v (run_id, first_seq, a, b, c, d, head, answers)
    JOIN query_blocks AS b ON b.run_id = v.run_id AND b.first_seq = v.first_seq WHERE b.day = ${day}`;
}

/** A block with these pieces; null if it has been merged into another. */
export async function fetchBlock(
  tx: CopyQueryable,
  block: BlockKey,
  pieces: ReadonlySet<Piece>,
): Promise<StoredBlock | null> {
  const [row] = await tx.copyOut(
    `SELECT ${blockColumns(pieces)} FROM query_blocks WHERE day = ${dayOf(block.hourUs)}
       AND run_id = ${numberInSql(block.runId)} AND first_seq = ${numberInSql(block.firstSeq)}`,
  );
  return row === undefined ? null : toBlock(row);
}

/** The block of the log that contains a row of a run; null if it no longer exists. */
export async function fetchBlockOf(
  tx: CopyQueryable,
  { runId, seq, hourUs }: { runId: number; seq: number; hourUs: number },
  pieces: ReadonlySet<Piece>,
): Promise<StoredBlock | null> {
  const [row] = await tx.copyOut(
    `SELECT ${blockColumns(pieces)} FROM query_blocks WHERE day = ${dayOf(hourUs)}
       AND run_id = ${numberInSql(runId)} AND first_seq <= ${numberInSql(seq)} AND ${IS_LOGGED} ORDER BY first_seq DESC LIMIT 1`,
  );
  const block = row === undefined ? null : toBlock(row);
  return block === null || seq >= block.firstSeq + block.rowCount ? null : block;
}

/**
 * The block of the log that contains a row of a run, whatever its day; null if it no longer exists. Searches the
 * partition of every day.
 */
export async function findBlockOf(
  tx: CopyQueryable,
  { runId, seq }: { runId: number; seq: number },
  pieces: ReadonlySet<Piece>,
): Promise<StoredBlock | null> {
  const [row] = await tx.copyOut(
    `SELECT ${blockColumns(pieces)} FROM query_blocks WHERE run_id = ${numberInSql(runId)}
       AND first_seq <= ${numberInSql(seq)} AND first_seq + row_count > ${numberInSql(seq)} AND ${IS_LOGGED} LIMIT 1`,
  );
  return row === undefined ? null : toBlock(row);
}

/** Rows of blocks that are only for statistics must not be shown. */
const IS_LOGGED = `used_by <> '${UsedBy.STATS}'`;

/** SQL of the columns for `toBlock()`, including the complete columns that contain these pieces. */
export function blockColumns(pieces: ReadonlySet<Piece>): string {
  const column = (name: string, its: readonly Piece[]): string =>
    its.some((piece) => pieces.has(piece)) ? name : 'NULL::bytea';
  return `${ROW_COLUMNS}, head, ${column('names', NAMES)}, ${column('queries', QUERIES)},
    ${column('answers', ['answers'])}`;
}

/** SQL of the columns for `toBlock()` if the content of the block is not needed. */
export const ROW_COLUMNS = `run_id, first_seq, row_count, node_id, ${microsInSql('hour')}, ${microsInSql('first_time')},
  ${microsInSql('last_time')}, lengths, checksums, answers IS NOT NULL, repeats`;

/** A column of times as microseconds since 1970. */
export function microsInSql(column: string): string {
  return `(extract(epoch FROM ${column}) * 1000000)::bigint`;
}

/** Microseconds since 1970 as a time in SQL. */
export function momentInSql(us: number): string {
  return `('epoch'::timestamptz + ${numberInSql(us)}::bigint * interval '1 microsecond')`;
}

/** The day of a time, in UTC. */
export function dayOf(us: number): string {
  return `(${momentInSql(us)} AT TIME ZONE 'UTC')::date`;
}

/** A number in SQL. @throws {RangeError} if it is not an integer */
export function numberInSql(value: number): string {
  if (!Number.isInteger(value)) throw new RangeError(`could not read blocks: ${value} is not a whole number`);
  return String(value);
}

const EMPTY = Buffer.alloc(0);
const LAST_US = Date.UTC(9999, 11, 31) * 1000;

/**
 * The columns of a block without its content, and SQL that converts them to JSON, for statements that are run often.
 */
export const BLOCK_COLUMNS = `run_id, first_seq, row_count, node_id, hour, first_time, last_time, lengths, checksums, answers, repeats`;
export const BLOCK_VALUES: readonly string[] = [
  ...['run_id', 'first_seq', 'row_count', 'node_id', ...['hour', 'first_time', 'last_time'].map(microsInSql)],
  ...['lengths', 'checksums', 'answers IS NOT NULL', 'repeats'],
];

/** A block without its content, as a JSON array. */
export type BlockValues = readonly [
  ...[runId: number, firstSeq: number, rowCount: number, nodeId: number],
  ...[hourUs: number, firstUs: number, lastUs: number],
  ...[lengths: number[], checksums: number[], hasAnswers: boolean, repeats: number],
];

/** Converts the JSON array to a block without content. */
export function fromValues(values: BlockValues): StoredBlock {
  const [runId, firstSeq, rowCount, nodeId, hourUs, firstUs, lastUs, ...content] = values;
  const [lengths, checksums, hasAnswers, repeats] = content;
  return {
    runId,
    firstSeq,
    rowCount,
    nodeId,
    hourUs,
    firstUs,
    lastUs,
    repeats,
    lengths,
    checksums,
    head: EMPTY,
    names: EMPTY,
    queries: EMPTY,
    answers: hasAnswers ? EMPTY : null,
  };
}

/** A time as a parameter of a statement, with microsecond precision. */
export function momentOf(us: number): string {
  const within = inYears(us);
  const rest = String(within % 1000).padStart(3, '0');
  return new Date(Math.floor(within / 1000)).toISOString().replace('Z', `${rest}Z`);
}

/** The UTC day of a time as a parameter of a statement. */
export function dateOfMoment(us: number): string {
  return new Date(Math.floor(inYears(us) / 1000)).toISOString().slice(0, 10);
}

/**
 * Limits a time to the years 1970 to 9999: PostgreSQL does not accept the ISO form of other times, and no row has such
 * a time.
 */
function inYears(us: number): number {
  return Math.max(0, Math.min(us, LAST_US));
}

/** A copy of the block without fetched or cached content. */
export function withoutContent({ known: _, firstFrames: __, ...block }: StoredBlock): StoredBlock {
  const answers = block.answers === null ? null : EMPTY;
  return { ...block, head: EMPTY, names: EMPTY, queries: EMPTY, answers };
}

/** Converts a row with the columns `blockColumns()`, or a row with `ROW_COLUMNS` to a block without content. */
export function toBlock(row: BinaryRow): StoredBlock {
  const [runId, firstSeq, rowCount, nodeId, hourUs, firstUs, lastUs, lengths, checksums, hasAnswers] = row;
  const [repeats, head, names, queries, answers] = row.slice(10);
  return {
    runId: runId!.readInt32BE(),
    firstSeq: int8Of(firstSeq!),
    rowCount: rowCount!.readInt32BE(),
    nodeId: nodeId!.readInt32BE(),
    hourUs: int8Of(hourUs!),
    firstUs: int8Of(firstUs!),
    lastUs: int8Of(lastUs!),
    repeats: int8Of(repeats!),
    lengths: int4sOf(lengths!),
    checksums: int4sOf(checksums!),
    head: head ?? EMPTY,
    names: names ?? EMPTY,
    queries: queries ?? EMPTY,
    answers: answers ?? (hasAnswers![0] === 1 ? EMPTY : null),
  };
}
