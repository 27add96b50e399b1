/**
 * Pages of the query log. Blocks are read from the newest on; those that overlap in time are merged, and reading stops
 * once no older block can have a row of the page. The total is counted over all blocks of the span, for most filters
 * from their dictionaries alone.
 */
import type { LoggedQuery, QueryLogPage } from '../../../shared/api/query-log-api.ts';
import { reasonOf } from '../../../shared/thrown.ts';
import type { Queryable } from '../../db/database.ts';
import { BlockReader } from '../block/block-reader.ts';
import { DamagedBlock } from '../block/block-layout.ts';
import { BlockFilter, type QueryFilter, type TimeSpan } from './block-filter.ts';
import {
  type BlockKey,
  type BlockRequest,
  type BlockTransaction,
  countWholeBlocks,
  fetchBlock,
  type Piece,
  scanBlocks,
  type StoredBlock,
} from './block-scan.ts';
import { converterOf, type LoggedQueryContext } from './logged-queries.ts';
import type { LogSource } from './log-source.ts';
import { nearestRows } from './nearest-rows.ts';
import { decodeCursor, encodeCursor, type QueryLogCursor } from './query-log-cursor.ts';

/** Which rows, and which page of them. */
export interface QueryLogRequest extends QueryFilter {
  readonly node?: string | undefined;
  readonly notNode?: string | undefined;
  /** Rows of the page. */
  readonly limit: number;
  readonly offset: number;
  /** `next_cursor` or `prev_cursor` of a page, which makes `offset` meaningless. */
  readonly cursor?: string | undefined;
  /** Unix milliseconds, inclusive; absent = as far back as the log goes. */
  readonly fromMs?: number | undefined;
  /** Unix milliseconds, exclusive; absent = to the newest row. */
  readonly toMs?: number | undefined;
}

/** Times of rows lie between these. */
export const OLDEST_US = 0;
export const NEWEST_US = Date.UTC(2262, 0, 2) * 1000;
const SEQ_FACTOR = 0x1_0000_0000;
/** No node's number: they are positive. */
const NO_NODE = -1;

const ALL_PIECES: ReadonlySet<Piece> = new Set(['names', 'queries', 'answers']);
const QUERY_PIECES: ReadonlySet<Piece> = new Set(['names', 'queries']);
/** Enough to choose among all rows. */
const TIME_PIECES: ReadonlySet<Piece> = new Set(['queries']);

/**
 * One page, newest first, without host names, with the number of rows on all pages. The total is counted for a first page and
 * travels in the cursor from there, so that turning pages does not count again.
 * @throws {InvalidCursor}
 */
export async function readQueryLog(log: LogSource, request: QueryLogRequest): Promise<QueryLogPage> {
  const cursor = request.cursor === undefined ? undefined : decodeCursor(request.cursor);
  return log.read(async (tx) => {
    const scan = new PageScan(tx, request, log, await nodesOf(tx, request));
    const { places, total } = await scan.read(cursor);
    const names = await nodeNames(tx);
    return {
      data: await scan.show(places, { nodeOf: (id) => names.get(id) ?? '' }),
      total,
      limit: request.limit,
      offset: request.offset,
      ...cursorsOf(places, { total, cursor, limit: request.limit }),
      damaged_blocks: scan.damagedBlocks,
    };
  });
}

/**
 * Where the pages beside a page start. There may always be newer rows, as more come; there are no older ones where a page
 * of older rows is not full. Beside an empty page lies the row that it started from.
 */
function cursorsOf(
  places: readonly PageRow[],
  { total, cursor, limit }: { total: number; cursor: QueryLogCursor | undefined; limit: number },
): Pick<QueryLogPage, 'next_cursor' | 'prev_cursor'> {
  const isNewer = cursor?.isNewer === true;
  const besides = (row: Pick<PageRow, 'timestampUs' | 'id'> | undefined, toNewer: boolean): string | null => {
    if (row !== undefined) return encodeCursor({ ...positionOf(row), total, isNewer: toNewer });
    if (cursor === undefined) return null;
    // One further than the row where the direction turns, so that the page begins with it.
    const turn = toNewer === isNewer ? 0 : toNewer ? -1 : 1;
    return encodeCursor({ ...cursor, id: cursor.id + turn, isNewer: toNewer });
  };
  const hasOlder = isNewer || places.length === limit;
  return {
    next_cursor: hasOlder ? besides(places.at(-1), false) : null,
    prev_cursor: besides(places[0], true),
  };
}

function positionOf({
  timestampUs,
  id,
}: Pick<PageRow, 'timestampUs' | 'id'>): Pick<PageRow, 'timestampUs' | 'id'> {
  return { timestampUs, id };
}

/** A row of a page: where it is stored. */
interface PageRow {
  readonly block: BlockKey & { readonly nodeId: number };
  readonly row: number;
  readonly timestampUs: number;
  /** Run times 2^32 plus the number in the run. */
  readonly id: number;
}

class PageScan {
  private readonly tx: BlockTransaction;
  private readonly request: QueryLogRequest;
  private readonly log: LogSource;
  private readonly filter: BlockFilter;
  private readonly span: TimeSpan;
  private readonly nodes: Pick<BlockRequest, 'nodeId' | 'notNodeId'>;
  private readonly damaged = new Set<string>();

  constructor(
    tx: BlockTransaction,
    request: QueryLogRequest,
    log: LogSource,
    nodes: Pick<BlockRequest, 'nodeId' | 'notNodeId'>,
  ) {
    this.tx = tx;
    this.request = request;
    this.log = log;
    this.filter = new BlockFilter(request);
    this.nodes = nodes;
    const { fromMs, toMs } = request;
    this.span = {
      fromUs: fromMs === undefined ? OLDEST_US : fromMs * 1000,
      toUs: toMs === undefined ? NEWEST_US : toMs * 1000,
    };
  }

  /** Number of blocks that could not be read so far. */
  get damagedBlocks(): number {
    return this.damaged.size;
  }

  /** The rows of the page beside `cursor`, or after the rows to be skipped, and the total of all pages; newest first. */
  async read(cursor: QueryLogCursor | undefined): Promise<{ places: PageRow[]; total: number }> {
    const { limit, offset } = this.request;
    const toSkip = cursor === undefined ? offset : 0;
    const needed = toSkip + limit;
    const isNewer = cursor?.isNewer === true;
    const span = spanBeside(this.span, cursor);
    const known = cursor?.total ?? (this.filter.matchesAll ? await this.totalOfAll() : null);
    let counted = 0;
    let found: PageRow[] = [];
    for await (const stored of this.blocks(span, this.filter.matchesAll ? TIME_PIECES : this.piecesToCount, {
      isOldestFirst: isNewer,
    })) {
      const edge = found[needed - 1]?.timestampUs;
      const isComplete = edge !== undefined && (isNewer ? edge < stored.firstUs : edge > stored.lastUs);
      if (isComplete && known !== null) break;
      const count = await this.count(stored, span);
      counted += count;
      if (isComplete || count === 0) continue;
      const block = this.filter.matchesAll ? stored : await fetchBlock(this.tx, stored, QUERY_PIECES);
      if (block === null) continue;
      const wanted = { span, cursor, needed };
      found.push(...(this.open(block, (reader) => this.nearestOf(reader, stored, wanted)) ?? []));
      found = found.sort(isNewer ? oldestFirst : newestFirst).slice(0, needed);
    }
    if (isNewer) found.reverse();
    return { places: found.slice(toSkip), total: known ?? counted };
  }

  private get piecesToCount(): ReadonlySet<Piece> {
    return new Set(this.filter.piecesToCount);
  }

  private async totalOfAll(): Promise<number> {
    let total = await countWholeBlocks(this.tx, { ...this.span, ...this.nodes });
    for await (const stored of this.blocks(this.span, new Set(), { isPartialOnly: true }))
      total += await this.count(stored, this.span);
    return total;
  }

  /** Number of matching rows of a block. */
  private async count(stored: StoredBlock, span: TimeSpan): Promise<number> {
    const isWhole = stored.firstUs >= span.fromUs && stored.lastUs < span.toUs;
    const block = isWhole ? stored : await fetchBlock(this.tx, stored, QUERY_PIECES);
    return block === null ? 0 : (this.open(block, (reader) => this.filter.count(reader, span)) ?? 0);
  }

  /** The matching rows of a block that are nearest to the cursor, or the newest, as many as could be needed. */
  private nearestOf(
    reader: BlockReader,
    { runId, firstSeq, hourUs, nodeId }: StoredBlock,
    { span, cursor, needed }: { span: TimeSpan; cursor: QueryLogCursor | undefined; needed: number },
  ): PageRow[] {
    const times = reader.times();
    const place = (row: number): PageRow => ({
      // Without the pieces: a page may have rows of a thousand blocks.
      block: { runId, firstSeq, hourUs, nodeId },
      row,
      timestampUs: times[row]!,
      id: rowId({ runId, firstSeq }, row),
    });
    const rows = this.filter.rows(reader, span);
    const isNewer = cursor?.isNewer === true;
    const beside = cursor === undefined ? rows : rows.filter((row) => isBeside(place(row), cursor));
    const sign = isNewer ? 1 : -1;
    return nearestRows(beside, times, needed, isNewer)
      .sort((a, b) => sign * (times[a]! - times[b]! || a - b))
      .slice(0, needed)
      .map(place);
  }

  /** The rows as the API has them, one block after the other in memory; without those of damaged blocks. */
  async show(rows: readonly PageRow[], context: LoggedQueryContext): Promise<LoggedQuery[]> {
    const shown = new Map<PageRow, LoggedQuery>();
    const byBlock = Map.groupBy(rows, ({ id, row }) => id - row);
    for (const ofBlock of byBlock.values()) {
      const { block } = ofBlock[0]!;
      const stored = await fetchBlock(this.tx, block, ALL_PIECES);
      if (stored === null) continue;
      this.open(stored, (reader) => {
        const convert = converterOf(reader, context);
        for (const row of ofBlock) shown.set(row, convert({ ...row, block: reader, nodeId: block.nodeId }));
      });
    }
    return rows.flatMap((row) => shown.get(row) ?? []);
  }

  private blocks(
    span: TimeSpan,
    pieces: ReadonlySet<Piece>,
    how: Pick<BlockRequest, 'isPartialOnly' | 'isOldestFirst'>,
  ): AsyncGenerator<StoredBlock> {
    return scanBlocks(this.tx, { ...span, ...this.nodes, pieces, ...how });
  }

  /** Reads a block; one that is damaged is left out and reported. */
  private open<T>(stored: StoredBlock, work: (reader: BlockReader) => T): T | undefined {
    try {
      return work(new BlockReader(stored));
    } catch (error) {
      if (!(error instanceof DamagedBlock)) throw error;
      const name = `${stored.runId}.${stored.firstSeq}`;
      this.damaged.add(name);
      this.log.onDamaged(name, reasonOf(error));
      return undefined;
    }
  }
}

/** The id of a row of a block. */
export function rowId({ runId, firstSeq }: Pick<StoredBlock, 'runId' | 'firstSeq'>, row: number): number {
  return runId * SEQ_FACTOR + firstSeq + row;
}

/** What of a span lies on the side of the cursor that its page is on. */
function spanBeside({ fromUs, toUs }: TimeSpan, cursor: QueryLogCursor | undefined): TimeSpan {
  if (cursor === undefined) return { fromUs, toUs };
  if (cursor.isNewer) return { fromUs: Math.max(fromUs, cursor.timestampUs), toUs };
  return { fromUs, toUs: Math.min(toUs, cursor.timestampUs + 1) };
}

function isBeside(place: PageRow, cursor: QueryLogCursor): boolean {
  const difference = place.timestampUs - cursor.timestampUs || place.id - cursor.id;
  return cursor.isNewer ? difference > 0 : difference < 0;
}

function newestFirst(a: PageRow, b: PageRow): number {
  return b.timestampUs - a.timestampUs || b.id - a.id;
}

function oldestFirst(a: PageRow, b: PageRow): number {
  return newestFirst(b, a);
}

/** The conditions on nodes as numbers; a name that no node has matches none. */
export async function nodesOf(
  tx: Queryable,
  { node, notNode }: Pick<QueryLogRequest, 'node' | 'notNode'>,
): Promise<Pick<BlockRequest, 'nodeId' | 'notNodeId'>> {
  if (node === undefined && notNode === undefined) return {};
  const ids = new Map([...(await nodeNames(tx))].map(([id, name]) => [name, id]));
  return {
    nodeId: node === undefined ? undefined : (ids.get(node) ?? NO_NODE),
    notNodeId: notNode === undefined ? undefined : (ids.get(notNode) ?? NO_NODE),
  };
}

/** Names of the nodes by their numbers. */
export async function nodeNames(tx: Queryable): Promise<ReadonlyMap<number, string>> {
  const { rows } = await tx.query<{ id: number; name: string }>('SELECT id, name FROM nodes');
  return new Map(rows.map(({ id, name }) => [id, name]));
}
