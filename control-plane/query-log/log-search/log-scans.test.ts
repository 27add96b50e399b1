/** Sends requests to the real thread, with a real PostgreSQL. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { type MemoryLine, MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { emptyLog, logSourceOf, storeRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase, type TestDatabase } from '../../../test/support/parts/test-database.ts';
import { until } from '../../../test/support/parts/until.ts';
import { runFor } from '../../api/request-holder.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import { InvalidCursor } from '../reading/query-log-cursor.ts';
import type { QueryLogRequest } from '../reading/page-scan.ts';
import { readQueryLog } from '../reading/query-log-store.ts';
import { LogScans, type LogScansOptions } from './log-scans.ts';
import { LANES } from './questions.ts';

const START_MS = Date.UTC(2026, 6, 5, 12);
const NEWEST = { limit: 10, offset: 0 };
const SEARCH = { limit: 10, offset: 0, domain: 'host-1' };

let own: TestDatabase;
let logger = new MemoryLogger();
const opened: LogScans[] = [];
const ever = new AbortController().signal;

beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());
afterEach(async () => {
  for (const scans of opened.splice(0)) await scans.close();
  await emptyLog(own.database);
});

function open(options: Partial<LogScansOptions> = {}): LogScans {
  logger = new MemoryLogger();
  const scans = new LogScans({ database: own.database, logger, ...options });
  opened.push(scans);
  return scans;
}

/** Stores blocks, each an hour after the previous one. */
async function store(blocks: number, rows: number): Promise<void> {
  for (let block = 0; block < blocks; block++)
    await storeRows(
      own.database,
      Array.from({ length: rows }, (_, i) =>
        logRow({
          timestampMs: START_MS + block * 3_600_000 + i * 10,
          qname: wireName(`host-${i}.example.org`),
          responseTimeUs: i,
        }),
      ),
    );
}

/** Log lines without level debug, because the priority of the thread may not be changeable, which is logged. */
const notices = (): MemoryLine[] => logger.lines.filter(({ level }) => level !== 'debug');

/** Connections of the thread, by state. */
async function sessions(): Promise<string[]> {
  const { rows } = await own.database.query<{ state: string }>(
    "SELECT state FROM pg_stat_activity WHERE application_name = 'weir scans'",
  );
  return rows.map(({ state }) => state);
}

/** Runs `work` while the blocks are locked, so that a request that reads them must wait. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  await own.database.transaction(async (tx) => {
    await tx.query('LOCK TABLE query_blocks IN ACCESS EXCLUSIVE MODE');
    await work();
  });
}

/** Number of requests in progress. */
const asking = async (): Promise<number> => (await sessions()).filter((state) => state === 'active').length;
const untilAsking = (): Promise<unknown> => until('a question to be at work', asking, (count) => count > 0);

describe('LogScans', () => {
  test('ask() returns the same pages as reading the log in this thread', async () => {
    await store(3, 50);
    const scans = open();
    for (const request of [{}, { domain: 'host-1' }, { offset: 60 }] as Partial<QueryLogRequest>[]) {
      const page = { limit: 20, offset: 0, ...request };
      expect(await scans.ask('page', page, ever)).toEqual(
        await readQueryLog(logSourceOf(own.database), page),
      );
    }
    const span = { fromMs: START_MS, toMs: START_MS + 3_600_000 };
    expect(await scans.ask('summary', span, ever)).toMatchObject({
      queries_total: 50,
      unique_domains: 50,
    });
    const request = { nowMs: START_MS + 86_400_000, days: 7, limit: 3 };
    expect(await scans.ask('mostAsked', request, ever)).toHaveLength(3);
  });

  test('ask() runs concurrent identical requests for a long period once, but reads each page separately', async () => {
    await store(1, 20);
    const scans = open();
    const span = { fromMs: START_MS - 86_400_000, toMs: START_MS + 3_600_000 };
    const twice = <T>(ask: () => Promise<T>): Promise<[T, T]> => Promise.all([ask(), ask()]);
    const [one, other] = await twice(() => scans.ask('summary', span, ever));
    expect(one.queries_total).toBe(20);
    expect(other).toBe(one);
    const [page, samePage] = await twice(() => scans.ask('page', SEARCH, ever));
    expect(samePage).toEqual(page);
    expect(samePage).not.toBe(page);
  });

  test('rows() returns every row in order, in parts, as the caller reads them', async () => {
    await store(2, 9000);
    const parts = await Array.fromAsync(open().rows({ from: null, to: null }, ever));
    const hour = Array.from({ length: 9000 }, (_, i) => 8999 - i);
    expect(parts.flat().map((row) => row.response_time_us)).toEqual([...hour, ...hour]);
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(250);
  });

  test('rows() stops reading the log when the caller ends the iteration', async () => {
    await store(2, 9000);
    const scans = open();
    const rows = scans.rows({ from: null, to: null }, ever);
    await rows.next();
    await rows.return(undefined);
    await until('the sessions to be idle', sessions, (states) => states.every((state) => state === 'idle'));
    expect((await scans.ask('page', NEWEST, ever)).total).toBe(18_000);
  });

  test('ask() reads a page without waiting for the ten searches that were requested before', async () => {
    await store(2, 1500);
    const scans = open();
    let asked: Promise<{ total: number }>[] = [];
    await whileLocked(async () => {
      asked = [...Array.from({ length: 10 }, () => SEARCH), NEWEST].map((it) => scans.ask('page', it, ever));
      await until('the page to be read beside all scans', asking, (count) => count === LANES.scan.atOnce + 1);
    });
    const totals = (await Promise.all(asked)).map(({ total }) => total);
    expect(totals).toEqual([...Array.from({ length: 10 }, () => 2 * 611), 2 * 1500]);
  });

  test('ask() stops immediately when its signal is aborted, and other requests continue', async () => {
    await store(1, 10);
    const scans = open();
    const gone = new AbortController();
    await whileLocked(async () => {
      const given = scans.ask('page', SEARCH, gone.signal);
      given.catch(() => undefined);
      await untilAsking();
      gone.abort();
      await expect(given).rejects.toThrow('abort');
      await expect(scans.ask('page', SEARCH, gone.signal)).rejects.toThrow('abort');
    });
    expect((await scans.ask('page', SEARCH, ever)).total).toBe(1);
  });

  test('ask() refuses searches when too many are waiting, and still accepts short requests', async () => {
    await store(1, 10);
    const scans = open();
    const { atOnce, waiting } = LANES.scan;
    let asked: Promise<{ total: number }>[] = [];
    await whileLocked(async () => {
      asked = Array.from({ length: atOnce + waiting }, () => scans.ask('page', SEARCH, ever));
      const refused = scans.ask('page', SEARCH, ever);
      await expect(refused).rejects.toMatchObject({
        status: 503,
        code: 'busy',
        headers: { 'Retry-After': '5' },
      });
      const span = { fromMs: 0, toMs: 60_000 };
      expect(await scans.ask('cacheUse', span, ever)).toEqual({ hits: 0, misses: 0 });
    });
    for (const page of await Promise.all(asked)) expect(page.total).toBe(1);
  });

  test('ask() refuses requests of a user who fills half of the queue, and accepts requests of other users', async () => {
    await store(1, 10);
    const scans = open();
    const { atOnce, waiting } = LANES.scan;
    const ask = (user: string): Promise<{ total: number }> =>
      runFor(user, () => scans.ask('page', SEARCH, ever));
    let asked: Promise<{ total: number }>[] = [];
    await whileLocked(async () => {
      asked = Array.from({ length: (atOnce + waiting) / 2 }, () => ask('vera'));
      await expect(ask('vera')).rejects.toMatchObject({
        status: 429,
        code: 'busy',
        headers: { 'Retry-After': '10' },
      });
      asked.push(ask('ann'));
    });
    for (const page of await Promise.all(asked)) expect(page.total).toBe(1);
    expect((await ask('vera')).total).toBe(1);
  });

  test('ask() refuses a request that needs too much memory, and answers the next request', async () => {
    await store(8, 9000);
    const scans = open({ heapMib: 24 });
    const all = { limit: 1_000_000, offset: 0 };
    await expect(scans.ask('page', all, ever)).rejects.toMatchObject({
      status: 503,
      code: 'busy',
      message: expect.stringContaining('24 MiB'),
    });
    expect(notices().map(({ level }) => level)).toEqual(['warn']);
    expect((await scans.ask('page', NEWEST, ever)).total).toBe(72_000);
  });

  test('ask() fails with "unavailable" while the database is disconnected, and works after it is connected again', async () => {
    await store(1, 10);
    const scans = open();
    await whileLocked(async () => {
      const asked = scans.ask('page', NEWEST, ever);
      asked.catch(() => undefined);
      await untilAsking();
      await own.database.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'weir scans'",
      );
      await expect(asked).rejects.toBeInstanceOf(DatabaseUnavailable);
    });
    expect((await scans.ask('page', NEWEST, ever)).total).toBe(10);
  });

  test('ask() rejects a cursor of another log', async () => {
    const request = { limit: 1, offset: 0, cursor: 'bm9uc2Vuc2U' };
    await expect(open().ask('page', request, ever)).rejects.toBeInstanceOf(InvalidCursor);
  });

  test('ask() returns the number of damaged blocks, and reports each of them once', async () => {
    await store(3, 10);
    await own.database.query(
      "UPDATE query_blocks SET queries = '\\x00'::bytea || substr(queries, 2) WHERE first_time = $1",
      [new Date(START_MS + 3_600_000)],
    );
    const scans = open();
    for (const _ of [1, 2])
      expect(await scans.ask('page', { limit: 30, offset: 0 }, ever)).toMatchObject({
        damaged_blocks: 1,
        data: { length: 20 },
      });
    expect(notices()).toMatchObject([
      { level: 'error', fields: { reason: expect.stringContaining('checksum') } },
    ]);
  });

  test('the thread ends with its connections when it is idle, and is started again when needed', async () => {
    await store(1, 10);
    const scans = open({ idleMs: 0 });
    for (const _ of [1, 2]) {
      expect((await scans.ask('page', NEWEST, ever)).total).toBe(10);
      await until('the sessions to end', sessions, (states) => states.length === 0);
    }
  });

  test('close() ends the thread, its requests and its connections', async () => {
    await store(1, 10);
    const scans = open();
    await whileLocked(async () => {
      const asked = scans.ask('page', NEWEST, ever);
      asked.catch(() => undefined);
      await untilAsking();
      await scans.close();
      await expect(asked).rejects.toBeInstanceOf(DatabaseUnavailable);
      await expect(scans.ask('page', NEWEST, ever)).rejects.toThrow('stopping');
    });
    await until('the sessions to end', sessions, (states) => states.length === 0);
  });
});
