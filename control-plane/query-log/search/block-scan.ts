/** The blocks of a span of time, a few at a time, so that memory stays bounded however long the span is. */
import type { Queryable } from '../../db/database.ts';
import type { BlockRange } from '../names/list-parts.ts';
import type { TimeSpan } from './block-filter.ts';
import type { BlockTransaction } from './block-transaction.ts';
import {
  dayOf,
  fetchPieces,
  momentInSql,
  numberInSql,
  type Piece,
  ROW_COLUMNS,
  sizeOf,
  type StoredBlock,
  toBlock,
  type Wanted,
} from './stored-block.ts';

/** Which blocks, and what of them. */
export interface BlockRequest extends TimeSpan {
  /** Only blocks of this node, or only of others. */
  readonly nodeId?: number | undefined;
  readonly notNodeId?: number | undefined;
  /** Besides the head; or by block all that is wanted, perhaps nothing. */
  readonly pieces: ReadonlySet<Piece> | ((block: StoredBlock) => ReadonlySet<Piece>);
  /** Leave out blocks that lie wholly within the span. */
  readonly isPartialOnly?: boolean;
  /** Leave out blocks that lists of names count (`names/list-parts.ts`); by default none. */
  readonly unlisted?: BlockRange['unlisted'];
  /** Begin with the oldest, by their first query. */
  readonly isOldestFirst?: boolean;
}

/** Blocks found at once, without their content: few at first, as a page of the newest rows needs no more. */
const FIRST_FOUND = 8;
const MOST_FOUND = 512;
/** Blocks, and about as many bytes, fetched at once. While some are read, as many more are on their way. */
const MOST_FETCHED = 64;
const FETCHED_BYTES = 2 * 1024 * 1024;
/** Fetches of fewer blocks are not followed by others before these are read. */
const MANY = 4;

const UNLISTED = { any: 'AND listed IS NULL', hour: `AND listed IS DISTINCT FROM 'h'` } as const;

/** The blocks with queries in the span, the newest first, by their last query, unless the oldest are wanted first. */
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
      ahead?.catch(() => undefined); // Thrown where it is awaited, if it ever is.
      for (const block of blocks) {
        await tx.turn?.();
        yield block;
      }
    }
  } finally {
    // The transaction may end only after its last statement.
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

/** The blocks of a scan without their content, as many together as are fetched at once. */
async function* inBatches(tx: BlockTransaction, request: BlockRequest): AsyncGenerator<Wanted[]> {
  const piecesOf = toPiecesOf(request.pieces);
  let most = 1;
  let batch: Wanted[] = [];
  let bytes = 0;
  for await (const block of findBlocks(tx, request)) {
    const wanted = { block, pieces: piecesOf(block) };
    const size = sizeOf(wanted);
    if (batch.length > 0 && (batch.length >= most || bytes + size > FETCHED_BYTES)) {
      yield batch;
      most = Math.min(most * 2, MOST_FETCHED);
      [batch, bytes] = [[], 0];
    }
    batch.push(wanted);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
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
  for (let limit = FIRST_FOUND; ; limit = MOST_FOUND) {
    const rows = await tx.copyOut(
      `SELECT ${ROW_COLUMNS} FROM query_blocks WHERE ${within(request)}
         ${after === undefined ? '' : `AND (${time}, run_id, first_seq) ${beyond} (${placeInSql(after, isOldestFirst)})`}
         ${isPartialOnly ? `AND NOT (${whole(request)})` : ''} ${unlisted === null ? '' : UNLISTED[unlisted]}
       ORDER BY ${time} ${order}, run_id ${order}, first_seq ${order} LIMIT ${numberInSql(limit)}`,
    );
    for (const row of rows) {
      const block = toBlock(row);
      const known = tx.memory?.findBlock(block);
      yield known === undefined ? block : { ...block, known };
      after = block;
    }
    if (rows.length < limit) return;
  }
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
