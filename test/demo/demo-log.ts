/**
 * Fills the query log of the demo up to now: a week at the first start; at later starts, the time in which the demo was
 * not running.
 */
import type { QueryLogRow } from '../../control-plane/query-log/rows/row.ts';
import type { Database } from '../../control-plane/storage/db/database.ts';
import { nodeIdOf } from '../../control-plane/storage/cluster/node-store.ts';
import { DAY_MS, keepAsUpkeep, storeRows } from '../bench/stored-log/made-up-log.ts';
import { madeRows } from './made-week.ts';
import type { Progress } from './progress.ts';

/** The log to fill. */
export interface FilledLog {
  readonly nodeName: string;
  readonly days: number;
  /** Number of queries on an ordinary day. */
  readonly perDay: number;
  readonly upstreams: readonly string[];
}

/** Shorter gaps are left empty, because the log of a real server also has gaps at restarts. */
const MIN_GAP_MS = 600_000;
/** Number of rows of a block, about as many as after maintenance of a quiet log. */
const BLOCK_ROWS = 20_000;
const SEED = 20261123;

/**
 * Stores rows from the time of the newest existing row, or from `days` ago, until now; no Weir may be using the
 * database.
 */
export async function fillLog(
  database: Database,
  { nodeName, days, ...made }: FilledLog,
  progress: Progress,
): Promise<void> {
  const toMs = Date.now();
  const { rows } = await database.query<{ last: Date | null }>(
    'SELECT max(last_time) AS last FROM query_blocks',
  );
  const fromMs = Math.max(rows[0]?.last?.getTime() ?? 0, toMs - days * DAY_MS);
  if (toMs - fromMs < MIN_GAP_MS) return;
  const nodeId = nodeIdOf(nodeName);
  const stored = madeRows({ ...made, fromMs, toMs, seed: SEED });
  const counts = new Map<string, number>();
  const counted = countedByClient(countedByDay(stored, toMs - fromMs, progress), counts);
  await storeRows(database, counted, { nodeId, blockRows: BLOCK_ROWS });
  await keepAsUpkeep(database, { nodeIds: [nodeId], days: 400 });
  for (const [address, queries] of counts)
    await database.query('UPDATE clients SET query_count = query_count + $2 WHERE ip_address = $1', [
      address,
      queries,
    ]);
}

/** Yields the rows, and counts the rows of each IPv4 address in `counts`. */
function* countedByClient(rows: Iterable<QueryLogRow>, counts: Map<string, number>): Generator<QueryLogRow> {
  for (const row of rows) {
    const { at, length } = row.client;
    const address = row.bytes.subarray(at, at + length).join('.');
    counts.set(address, (counts.get(address) ?? 0) + 1);
    yield row;
  }
}

/** Yields the rows, and reports each day when its first row is reached, with the number of queries so far. */
function* countedByDay(
  rows: Iterable<QueryLogRow>,
  spanMs: number,
  progress: Progress,
): Generator<QueryLogRow> {
  const days = Math.ceil(spanMs / DAY_MS);
  let firstMs: number | undefined;
  let shownDay = 0;
  let count = 0;
  for (const row of rows) {
    firstMs ??= row.timestampMs;
    const day = 1 + Math.floor((row.timestampMs - firstMs) / DAY_MS);
    if (day > shownDay)
      progress.count(`day ${String(day)} of ${String(days)}, ${count.toLocaleString('en')} queries`);
    shownDay = day;
    count++;
    yield row;
  }
  progress.count(`${count.toLocaleString('en')} queries, updating the statistics`);
}
