/**
 * Exports the log from the newest row to the oldest, in short turns: each reads a few blocks in a separate transaction,
 * so that a client that reads the rows slowly does not delay other requests. A turn ends at a timestamp, and the next
 * turn reads rows at or before this timestamp; blocks may therefore be merged, added or deleted between turns.
 */
import { setImmediate } from 'node:timers/promises';
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { BlockReader } from '../block/block-reader.ts';
import { DamagedBlock, MAX_BLOCK_ROWS } from '../block/block-layout.ts';
import { BlockFilter, type TimeSpan } from '../search/block-filter.ts';
import { type BlockRequest, scanBlocks } from '../search/block-scan.ts';
import type { BlockTransaction } from '../search/block-transaction.ts';
import { converterOf, type LoggedQueryContext } from './logged-queries.ts';
import type { LogSelection } from './log-request.ts';
import type { LogSource } from './log-source.ts';
import { nameOf } from '../sums/log-sums.ts';
import { NEWEST_US, OLDEST_US, rowId } from './page-scan.ts';
import { nodeNames, nodesOf } from './query-log-store.ts';
import { fetchBlock, type Piece, type StoredBlock } from '../search/stored-block.ts';

/** Number of rows per batch. */
const ROWS_AT_ONCE = 250;
/** Number of matching rows after which a turn ends. */
const ROWS_PER_TURN = 10_000;
/**
 * Maximum number of rows and blocks that are searched in one turn; more are searched only if all rows found have the
 * same timestamp.
 */
const MAX_SEARCHED = { rows: 4 * MAX_BLOCK_ROWS, blocks: 256 } as const;

const ALL_PIECES: ReadonlySet<Piece> = new Set(['names', 'queries', 'answers']);
const QUERY_PIECES: ReadonlySet<Piece> = new Set(['names', 'queries']);

/** A block with rows that match. */
interface MatchedBlock {
  readonly times: Float64Array;
  /** Indexes of the rows, newest first. */
  readonly rows: readonly number[];
  readonly rowAt: (row: number) => LoggedQuery;
  readonly idOf: (row: number) => number;
}

/** Result of a turn: the matching rows after `endUs`; if `endUs` is null, the log has no more rows. */
interface Turn {
  readonly blocks: readonly MatchedBlock[];
  readonly endUs: number | null;
}

/** All rows of a selection, some at a time, newest first, without host names. */
export async function* exportQueries(log: LogSource, selection: LogSelection): AsyncGenerator<LoggedQuery[]> {
  const scan = new ExportScan(log, selection);
  const fromUs = selection.from === null ? OLDEST_US : selection.from.getTime() * 1000;
  let toUs = selection.to === null ? NEWEST_US : selection.to.getTime() * 1000;
  for (;;) {
    const { blocks, endUs } = await log.read((tx) => scan.turn(tx, { fromUs, toUs }));
    for (const rows of newestFirst(blocks, endUs ?? -Infinity)) {
      yield rows;
      // Lets other work run even if the client consumes the rows immediately.
      await setImmediate();
    }
    if (endUs === null) return;
    toUs = endUs + 1;
  }
}

class ExportScan {
  private readonly log: LogSource;
  private readonly selection: LogSelection;
  private readonly filter: BlockFilter;

  constructor(log: LogSource, selection: LogSelection) {
    this.log = log;
    this.selection = selection;
    this.filter = new BlockFilter(selection);
  }

  /** Searches the newest blocks of the span. */
  async turn(tx: BlockTransaction, span: TimeSpan): Promise<Turn> {
    const names = await nodeNames(tx);
    const context = { nodeOf: (id: number) => names.get(id) ?? '' };
    const request: BlockRequest = {
      ...span,
      reader: 'log',
      ...(await nodesOf(tx, this.selection)),
      pieces: this.filter.matchesAll ? ALL_PIECES : QUERY_PIECES,
    };
    const found: MatchedBlock[] = [];
    const searched = { rows: 0, blocks: 0 };
    for await (const stored of scanBlocks(tx, request)) {
      const isFull = searched.rows >= MAX_SEARCHED.rows || searched.blocks >= MAX_SEARCHED.blocks;
      const isProgress = stored.lastUs + 1 < span.toUs;
      if (isProgress && (isFull || rowsAfter(found, stored.lastUs) >= ROWS_PER_TURN))
        return { blocks: found, endUs: stored.lastUs };
      searched.rows += stored.rowCount;
      searched.blocks++;
      const matched = await this.search(tx, stored, span, context);
      if (matched !== null) found.push(matched);
    }
    return { blocks: found, endUs: null };
  }

  /** Searches a block. Returns null if no row matches, or if the block is damaged, which is also reported. */
  private async search(
    tx: BlockTransaction,
    stored: StoredBlock,
    span: TimeSpan,
    context: LoggedQueryContext,
  ): Promise<MatchedBlock | null> {
    try {
      const rows = this.filter.rows(new BlockReader(stored), span);
      if (rows.length === 0) return null;
      const whole = this.filter.matchesAll ? stored : await fetchBlock(tx, stored, ALL_PIECES);
      return whole === null ? null : matchedBlock(whole, rows, context);
    } catch (error) {
      if (!(error instanceof DamagedBlock)) throw error;
      this.log.onDamaged(nameOf(stored), reasonOf(error));
      return null;
    }
  }
}

function matchedBlock(
  stored: StoredBlock,
  found: readonly number[],
  context: LoggedQueryContext,
): MatchedBlock {
  const block = new BlockReader(stored);
  const times = block.times();
  const convert = converterOf(block, context);
  const { nodeId } = stored;
  const idOf = (row: number): number => rowId(stored, row);
  return {
    times,
    rows: found.toReversed().sort((a, b) => times[b]! - times[a]! || b - a),
    rowAt: (row) => convert({ block, nodeId, row, timestampUs: times[row]!, id: idOf(row) }),
    idOf,
  };
}

/** Number of matching rows later than `us`. */
function rowsAfter(blocks: readonly MatchedBlock[], us: number): number {
  return blocks.reduce((sum, { times, rows }) => {
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (times[rows[middle]!]! > us) low = middle + 1;
      else high = middle;
    }
    return sum + low;
  }, 0);
}

/** The rows of all blocks after `endUs`, merged. */
function* newestFirst(blocks: readonly MatchedBlock[], endUs: number): Generator<LoggedQuery[]> {
  const left = blocks.map((block) => ({ block, next: 0, timeUs: 0, id: 0 }));
  const advance = (entry: (typeof left)[number], place: number): void => {
    const row = entry.block.rows[place];
    entry.next = place;
    entry.timeUs = row === undefined ? -Infinity : entry.block.times[row]!;
    entry.id = row === undefined ? 0 : entry.block.idOf(row);
  };
  for (const entry of left) advance(entry, 0);
  let rows: LoggedQuery[] = [];
  for (;;) {
    const newest = left.reduce<(typeof left)[number] | null>(
      (best, entry) => (best === null || isNewer(entry, best) ? entry : best),
      null,
    );
    if (newest === null || newest.timeUs <= endUs) break;
    rows.push(newest.block.rowAt(newest.block.rows[newest.next]!));
    advance(newest, newest.next + 1);
    if (rows.length < ROWS_AT_ONCE) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

function isNewer(a: { timeUs: number; id: number }, b: { timeUs: number; id: number }): boolean {
  return a.timeUs === b.timeUs ? a.id > b.id : a.timeUs > b.timeUs;
}
