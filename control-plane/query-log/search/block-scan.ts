/** Reads the blocks of a span of time, a few at a time, so that memory stays bounded for any length of the span. */
import type { Queryable } from '../../storage/db/database.ts';
import { UsedBy } from '../block/log-block.ts';
import type { BlockRange } from '../top-lists/list-parts.ts';
import type { TimeSpan } from './block-filter.ts';
import type { BlockTransaction } from './block-transaction.ts';
import {
  BLOCK_COLUMNS,
  BLOCK_VALUES,
  type BlockValues,
  dateOfMoment,
  fetchPieces,
  fromValues,
  momentOf,
  numberInSql,
  type Piece,
  sizeOf,
  type StoredBlock,
  type Wanted,
} from './stored-block.ts';

/** Filters for blocks, and the parts of them to read. */
export interface BlockRequest extends TimeSpan {
  /** The reader: blocks that are only for the other reader are left out. */
  readonly reader: 'log' | 'statistics';
  /** Only blocks of the node `nodeId`, or only of nodes other than `notNodeId`. */
  readonly nodeId?: number | undefined;
  readonly notNodeId?: number | undefined;
  /** Pieces in addition to the head; a function returns the pieces of each block, which may be none. */
  readonly pieces: ReadonlySet<Piece> | ((block: StoredBlock) => ReadonlySet<Piece>);
  /** Whether to leave out blocks that are completely within the span. */
  readonly isPartialOnly?: boolean;
  /** Leaves out blocks that these top lists count (`top-lists/list-parts.ts`); by default, no block is left out. */
  readonly unlisted?: BlockRange['unlisted'];
  /** Whether to return the oldest blocks first, ordered by their first query. */
  readonly isOldestFirst?: boolean;
  /** Maximum number of blocks in the first fetch, by default 1; for callers that need all pieces that they request. */
  readonly firstFetch?: number;
}

/**
 * Number of blocks that one statement finds, without their content: few at first, because a page of the newest rows
 * needs no more.
 */
const FIRST_FOUND = 8;
const MAX_FOUND = 512;
/**
 * Number of blocks, and approximate number of bytes, fetched at a time. While these are read, the same number of
 * further blocks are fetched.
 */
const MAX_FETCHED = 64;
const FETCHED_BYTES = 2 * 1024 * 1024;
/** If a fetch returned fewer blocks than this, the next fetch begins only after these blocks are read. */
const MANY = 4;

const UNLISTED = { any: 'AND listed IS NULL', hour: `AND listed IS DISTINCT FROM 'h'` } as const;

/** The blocks with queries in the span, newest first by their last query, or oldest first if `isOldestFirst`. */
export async function* scanBlocks(tx: BlockTransaction, request: BlockRequest): AsyncGenerator<StoredBlock> {
  const batches = inBatches(tx, request);
  const fetchNext = async (): Promise<StoredBlock[] | null> => {
    const batch = await batches.next();
    return batch.done === true ? null : fetchBatch(tx, batch.value);
  };
  let ahead: Promise<StoredBlock[] | null> | undefined;
  try {
    for (;;) {
      const blocks = await (ahead ?? fetchNext());
      if (blocks === null) return;
      ahead = blocks.length < MANY ? undefined : fetchNext();
      ahead?.catch(() => undefined); // Prevents an unhandled rejection: the error is thrown when `ahead` is awaited.
      for (const block of blocks) {
        await tx.turn?.();
        yield block;
      }
    }
  } finally {
    // The caller must not end the transaction before this statement has ended.
    await ahead?.catch(() => undefined);
  }
}

async function fetchBatch(tx: BlockTransaction, batch: readonly Wanted[]): Promise<StoredBlock[]> {
  const fetched = await fetchPieces(
    tx,
    batch.filter(({ pieces }) => pieces.size > 0),
  );
  let next = 0;
  return batch.flatMap(({ block, pieces }) => {
    if (pieces.size === 0) return block;
    const found = fetched[next];
    if (found?.runId !== block.runId || found.firstSeq !== block.firstSeq) return [];
    next++;
    return found;
  });
}

/** The blocks of a scan without their content, in groups that are fetched together. */
async function* inBatches(tx: BlockTransaction, request: BlockRequest): AsyncGenerator<Wanted[]> {
  const piecesOf = toPiecesOf(request.pieces);
  const batches = new Batches<Wanted>(request.firstFetch ?? 1);
  for await (const block of findBlocks(tx, request)) {
    const full = batches.add({ block, pieces: piecesOf(block) });
    if (full !== null) yield full;
  }
  if (batches.batch.length > 0) yield batches.batch;
}

/** Collects blocks to fetch together. */
class Batches<T extends Wanted> {
  batch: T[] = [];
  private max: number;
  private bytes = 0;

  constructor(first: number) {
    this.max = first;
  }

  /**
   * Adds a block; if the current batch is full, returns that batch and starts another one. Each batch may be twice as
   * large as the previous one.
   */
  add(wanted: T): T[] | null {
    const size = sizeOf(wanted);
    const { batch } = this;
    const isFull = batch.length > 0 && (batch.length >= this.max || this.bytes + size > FETCHED_BYTES);
    if (isFull) {
      this.max = Math.min(this.max * 2, MAX_FETCHED);
      this.batch = [];
      this.bytes = 0;
    }
    this.batch.push(wanted);
    this.bytes += size;
    return isFull ? batch : null;
  }
}

function toPiecesOf(pieces: BlockRequest['pieces']): (block: StoredBlock) => ReadonlySet<Piece> {
  if (typeof pieces === 'function') return pieces;
  const withHead: ReadonlySet<Piece> = new Set<Piece>(['head', ...pieces]);
  return () => withHead;
}

async function* findBlocks(tx: BlockTransaction, request: BlockRequest): AsyncGenerator<StoredBlock> {
  const { isPartialOnly = false, isOldestFirst = false, unlisted = null } = request;
  const [time, beyond, order] = isOldestFirst ? ['first_time', '>', 'ASC'] : ['last_time', '<', 'DESC'];
  let after: StoredBlock | undefined;
  for (let limit = FIRST_FOUND; ; limit = MAX_FOUND) {
    const { put, values } = parameters();
    const text = `SELECT json_agg(json_build_array(${BLOCK_VALUES.join(', ')})) AS blocks FROM (
         SELECT ${BLOCK_COLUMNS} FROM query_blocks WHERE ${within(request, put)}
         ${after === undefined ? '' : `AND (${time}, run_id, first_seq) ${beyond} (${placeOf(after, isOldestFirst, put)})`}
         ${isPartialOnly ? `AND NOT (${whole(request, put)})` : ''} ${unlisted === null ? '' : UNLISTED[unlisted]}
         ORDER BY ${time} ${order}, run_id ${order}, first_seq ${order} LIMIT ${numberInSql(limit)}) AS found`;
    const { rows } = await tx.query<{ blocks: BlockValues[] | null }>(text, values);
    const blocks = rows[0]!.blocks ?? [];
    for (const found of blocks) {
      const block = fromValues(found);
      const known = tx.memory?.findBlock(block);
      yield known === undefined ? block : { ...block, known };
      after = block;
    }
    if (blocks.length < limit) return;
  }
}

/** Adds a value to the parameters of a statement; returns its placeholder, such as `$3`. */
type Put = (value: unknown) => string;

function parameters(): { readonly put: Put; readonly values: unknown[] } {
  const values: unknown[] = [];
  return { put: (value) => `$${values.push(value)}`, values };
}

/** The position of a block in the order of a scan. */
function placeOf(
  { firstUs, lastUs, runId, firstSeq }: StoredBlock,
  isOldestFirst: boolean,
  put: Put,
): string {
  const time = momentOf(isOldestFirst ? firstUs : lastUs);
  return `${put(time)}::timestamptz, ${put(runId)}::integer, ${put(firstSeq)}::bigint`;
}

/** Numbers of rows, and of the queries that they represent. */
export interface RowTotals {
  rows: number;
  queries: number;
}

/** Totals of the blocks that are completely within the span. */
export async function countWholeBlocks(
  tx: Queryable,
  which: Omit<BlockRequest, 'pieces'>,
): Promise<RowTotals> {
  const { put, values } = parameters();
  const { rows } = await tx.query<RowTotals>(
    `SELECT coalesce(sum(row_count), 0)::bigint AS rows, coalesce(sum(row_count + repeats), 0)::bigint AS queries
     FROM query_blocks
     WHERE ${within(which, put)} AND ${whole(which, put)}`,
    values,
  );
  return rows[0]!;
}

type Which = Pick<BlockRequest, 'fromUs' | 'toUs' | 'reader' | 'nodeId' | 'notNodeId'>;

const OF_OTHERS = { log: UsedBy.STATS, statistics: UsedBy.LOG } as const;

/** Condition on blocks with queries in a span, for the selected nodes. */
function within({ fromUs, toUs, reader, nodeId, notNodeId }: Which, put: Put): string {
  return [
    `used_by <> '${OF_OTHERS[reader]}'`,
    `day >= ${put(dateOfMoment(fromUs))}::date AND day <= ${put(dateOfMoment(toUs))}::date`,
    `last_time >= ${put(momentOf(fromUs))}::timestamptz AND first_time < ${put(momentOf(toUs))}::timestamptz`,
    ...(nodeId === undefined ? [] : [`node_id = ${put(nodeId)}::integer`]),
    ...(notNodeId === undefined ? [] : [`node_id <> ${put(notNodeId)}::integer`]),
  ].join(' AND ');
}

/** Condition on blocks that are completely within a span. */
function whole({ fromUs, toUs }: TimeSpan, put: Put): string {
  return `first_time >= ${put(momentOf(fromUs))}::timestamptz AND last_time < ${put(momentOf(toUs))}::timestamptz`;
}
