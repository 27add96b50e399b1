/**
 * Finds the rows of a page of the query log. Blocks are read from the newest on; those that overlap in time are merged,
 * and reading stops when no older block can have a row of the page. The total is counted over all blocks of the span;
 * for most filters, the dictionaries of the blocks are sufficient.
 */
import { MAX_ID } from '../../../shared/api/fields.ts';
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { BlockReader } from '../block/block-reader.ts';
import { DamagedBlock } from '../block/block-layout.ts';
import { sumRepeats } from '../block/repeats.ts';
import type { KnownNames } from '../top-lists/name-book.ts';
import { BlockFilter, type TimeSpan } from '../search/block-filter.ts';
import { type BlockRequest, countWholeBlocks, type RowTotals, scanBlocks } from '../search/block-scan.ts';
import type { BlockTransaction } from '../search/block-transaction.ts';
import { converterOf, type LoggedQueryContext } from './logged-queries.ts';
import type { LogSource } from './log-source.ts';
import { nearestRows } from './nearest-rows.ts';
import type { QueryFilter } from '../search/query-conditions.ts';
import { ALL_PIECES, inPortions, WholeBlocks } from './whole-blocks.ts';
import type { QueryLogCursor } from './query-log-cursor.ts';
import {
  fetchPieces,
  type Piece,
  type StoredBlock,
  type Wanted,
  withoutContent,
} from '../search/stored-block.ts';

/** Filters for rows, and the requested page. */
export interface QueryLogRequest extends QueryFilter {
  readonly node?: string | undefined;
  readonly notNode?: string | undefined;
  /** Maximum number of rows on the page. */
  readonly limit: number;
  readonly offset: number;
  /** `next_cursor` or `prev_cursor` of a page; if present, `offset` is ignored. */
  readonly cursor?: string | undefined;
  /** Unix milliseconds, inclusive; absent = from the oldest row. */
  readonly fromMs?: number | undefined;
  /** Unix milliseconds, exclusive; absent = to the newest row. */
  readonly toMs?: number | undefined;
}

/** Limits for times of rows. */
export const OLDEST_US = 0;
export const NEWEST_US = Date.UTC(2262, 0, 2) * 1000;
const SEQ_FACTOR = 0x1_0000_0000;

/** Number of blocks in the first fetch: small, so that a page that needs only these blocks does not wait for others. */
const FIRST_FETCH = 3;
const NOTHING: ReadonlySet<Piece> = new Set();

/** A row of a page: where it is stored. */
export interface PageRow {
  /** The block without its content, because a page may have rows from a thousand blocks. */
  readonly block: StoredBlock;
  readonly row: number;
  readonly timestampUs: number;
  /** Id of the run times 2^32 plus the sequence number in the run. */
  readonly id: number;
}

interface NearestRequest {
  readonly span: TimeSpan;
  readonly cursor: QueryLogCursor | undefined;
  /** Number of rows that the page can need from the block. */
  readonly needed: number;
}

/** The search for the rows of one page. */
export class PageScan {
  private readonly tx: BlockTransaction;
  private readonly request: QueryLogRequest;
  private readonly log: LogSource;
  private readonly filter: BlockFilter;
  private readonly span: TimeSpan;
  private readonly nodes: Pick<BlockRequest, 'nodeId' | 'notNodeId'>;
  private readonly damaged = new Set<string>();
  /** Totals of matching rows of blocks that need not be read to be counted. */
  private readonly counts = new Map<number, RowTotals>();
  private readonly whole = new WholeBlocks();

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

  /**
   * The rows of the page, newest first, and the totals of all pages. The page starts next to `cursor`, or after the
   * rows that `offset` skips.
   */
  async read(cursor: QueryLogCursor | undefined): Promise<{ places: PageRow[]; totals: RowTotals }> {
    const { limit, offset } = this.request;
    const toSkip = cursor === undefined ? offset : 0;
    const needed = toSkip + limit;
    const isNewer = cursor?.isNewer === true;
    const span = spanOnPageSide(this.span, cursor);
    const known = cursor?.totals ?? (this.filter.matchesAll ? await this.totalOfAll() : null);
    const counted = { rows: 0, queries: 0 };
    let found: PageRow[] = [];
    this.whole.missingRows = needed;
    for await (const stored of this.blocks(span, { isOldestFirst: isNewer, firstFetch: FIRST_FETCH })) {
      const edge = found[needed - 1]?.timestampUs;
      const isComplete = edge !== undefined && (isNewer ? edge < stored.firstUs : edge > stored.lastUs);
      if (isComplete && known !== null) break;
      const count = this.count(stored, span);
      addTotals(counted, count);
      if (isComplete || count.rows === 0) continue;
      found.push(...(await this.nearest(stored, { span, cursor, needed })));
      found = found.sort(isNewer ? oldestFirst : newestFirst).slice(0, needed);
    }
    if (isNewer) found.reverse();
    return { places: found.slice(toSkip), totals: known ?? counted };
  }

  private async totalOfAll(): Promise<RowTotals> {
    const { fromMs, toMs } = this.request;
    const total = await countWholeBlocks(this.tx, { ...this.span, reader: 'log', ...this.nodes });
    if (fromMs === undefined && toMs === undefined) return total;
    for await (const stored of this.blocks(this.span, { isPartialOnly: true }))
      addTotals(total, this.count(stored, this.span));
    return total;
  }

  /** Counts a block from data that is already known, or returns the pieces that `count()` needs. */
  private countOrAsk(stored: StoredBlock, span: TimeSpan): ReadonlySet<Piece> {
    const { known } = stored;
    const hasNames = known?.names !== undefined;
    if (isWhole(stored, span) && this.filter.matchesAll) {
      this.counts.set(rowId(stored, 0), { rows: stored.rowCount, queries: stored.rowCount + stored.repeats });
      return this.whole.ask(stored);
    }
    if (isWhole(stored, span) && known !== undefined) {
      const count = this.filter.countByHead(known.head, known.names);
      const isAllKnown = count === 0 || stored.repeats === 0;
      if (count !== null && isAllKnown) this.counts.set(rowId(stored, 0), { rows: count, queries: count });
      if (count !== null && isAllKnown) return NOTHING;
    }
    const isByDictionaries = isWhole(stored, span) && stored.repeats === 0;
    const pieces = new Set(
      isByDictionaries ? this.filter.piecesToCount(hasNames) : this.filter.piecesToSearch(hasNames),
    );
    return known === undefined ? pieces.add('head') : pieces;
  }

  /** Number of matching rows of a block. Rows with repeats are counted individually, because few blocks have them. */
  private count(stored: StoredBlock, span: TimeSpan): RowTotals {
    const known = this.counts.get(rowId(stored, 0));
    if (known !== undefined) return known;
    return (
      this.open(stored, (reader, names) => {
        const rows = stored.repeats === 0 ? null : this.filter.rows(reader, span, names);
        const count = rows?.length ?? this.filter.count(reader, span, names);
        if (this.filter.needsNames) this.tx.memory?.keepNames(stored, reader);
        return { rows: count, queries: count + (rows === null ? 0 : sumRepeats(reader.head, rows)) };
      }) ?? { rows: 0, queries: 0 }
    );
  }

  /**
   * The matching rows of a block that the page may need: those nearest to the cursor or, without a cursor, the newest.
   */
  private async nearest(stored: StoredBlock, wanted: NearestRequest): Promise<PageRow[]> {
    const pieces = new Set<Piece>(this.filter.piecesToSearch(stored.known?.names !== undefined));
    if (stored.known === undefined) pieces.add('head');
    const [block] = this.whole.keep(stored)
      ? [stored]
      : await fetchPieces(this.tx, [{ block: stored, pieces }]);
    if (block === undefined) return [];
    return this.open(block, (reader, names) => this.nearestOf(reader, stored, wanted, names)) ?? [];
  }

  private nearestOf(
    reader: BlockReader,
    stored: StoredBlock,
    { span, cursor, needed }: NearestRequest,
    names: KnownNames | undefined,
  ): PageRow[] {
    const times = reader.times();
    const block = withoutContent(stored);
    const place = (row: number): PageRow => ({
      block,
      row,
      timestampUs: times[row]!,
      id: rowId(block, row),
    });
    // If all rows match, the nearest ones are chosen by time alone.
    const isAll = this.filter.matchesAll && isWhole(stored, span) && cursor === undefined;
    const rows = isAll ? null : this.filter.rows(reader, span, names);
    const isNewer = cursor?.isNewer === true;
    const beside =
      cursor === undefined || rows === null ? rows : rows.filter((row) => isOnPageSide(place(row), cursor));
    const sign = isNewer ? 1 : -1;
    return nearestRows(beside, times, needed, isNewer)
      .sort((a, b) => sign * (times[a]! - times[b]! || a - b))
      .slice(0, needed)
      .map(place);
  }

  /** Converts the rows to the form of the API, with few blocks in memory at a time; omits rows of damaged blocks. */
  async show(rows: readonly PageRow[], context: LoggedQueryContext): Promise<LoggedQuery[]> {
    const shown = new Map<number, LoggedQuery>();
    const byBlock = Map.groupBy(rows, ({ id, row }) => id - row);
    const show = (stored: StoredBlock): void =>
      this.open(stored, (reader) => {
        const convert = converterOf(reader, context);
        for (const row of byBlock.get(rowId(stored, 0))!)
          shown.set(row.id, convert({ ...row, block: reader, nodeId: stored.nodeId }));
      });
    const wanted: Wanted[] = [];
    for (const [row] of byBlock.values()) {
      const { block } = row!;
      const whole = this.whole.find(block);
      if (whole === undefined) wanted.push({ block, pieces: ALL_PIECES });
      else show(whole);
    }
    for (const portion of inPortions(wanted))
      for (const stored of await fetchPieces(this.tx, portion)) show(stored);
    return rows.flatMap(({ id }) => shown.get(id) ?? []);
  }

  private blocks(
    span: TimeSpan,
    how: Pick<BlockRequest, 'isPartialOnly' | 'isOldestFirst' | 'firstFetch'>,
  ): AsyncGenerator<StoredBlock> {
    const pieces = (stored: StoredBlock): ReadonlySet<Piece> => this.countOrAsk(stored, span);
    return scanBlocks(this.tx, { ...span, reader: 'log', ...this.nodes, pieces, ...how });
  }

  /** Reads a block; a damaged block is skipped and reported. */
  private open<T>(
    stored: StoredBlock,
    work: (reader: BlockReader, names: KnownNames | undefined) => T,
  ): T | undefined {
    try {
      const { known } = stored;
      const reader = new BlockReader(stored, known?.head);
      if (known === undefined) this.tx.memory?.keepHead(stored, reader.head);
      return work(reader, known?.names);
    } catch (error) {
      if (!(error instanceof DamagedBlock)) throw error;
      const name = `${stored.runId}.${stored.firstSeq}`;
      this.damaged.add(name);
      this.log.onDamaged(name, reasonOf(error));
      return undefined;
    }
  }
}

function addTotals(sum: RowTotals, { rows, queries }: RowTotals): void {
  sum.rows += rows;
  sum.queries += queries;
}

/** The id of a row of a block. */
export function rowId({ runId, firstSeq }: Pick<StoredBlock, 'runId' | 'firstSeq'>, row: number): number {
  return runId * SEQ_FACTOR + firstSeq + row;
}

/** The run of a row, and the row's sequence number in the run; null for an invalid id. */
export function placeOfId(id: number): { readonly runId: number; readonly seq: number } | null {
  const runId = Math.floor(id / SEQ_FACTOR);
  return runId >= 1 && runId <= MAX_ID ? { runId, seq: id - runId * SEQ_FACTOR } : null;
}

function isWhole({ firstUs, lastUs }: StoredBlock, { fromUs, toUs }: TimeSpan): boolean {
  return firstUs >= fromUs && lastUs < toUs;
}

/** The part of a span on the side of the cursor where the page is. */
function spanOnPageSide({ fromUs, toUs }: TimeSpan, cursor: QueryLogCursor | undefined): TimeSpan {
  if (cursor === undefined) return { fromUs, toUs };
  if (cursor.isNewer) return { fromUs: Math.max(fromUs, cursor.timestampUs), toUs };
  return { fromUs, toUs: Math.min(toUs, cursor.timestampUs + 1) };
}

function isOnPageSide(place: PageRow, cursor: QueryLogCursor): boolean {
  const difference = place.timestampUs - cursor.timestampUs || place.id - cursor.id;
  return cursor.isNewer ? difference > 0 : difference < 0;
}

function newestFirst(a: PageRow, b: PageRow): number {
  return b.timestampUs - a.timestampUs || b.id - a.id;
}

function oldestFirst(a: PageRow, b: PageRow): number {
  return newestFirst(b, a);
}
