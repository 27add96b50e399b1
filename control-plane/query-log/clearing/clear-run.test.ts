import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import {
  batchesOf,
  emptyLog,
  logSourceOf,
  questionsOf,
  storedRows,
  storeRows,
} from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import { Exclusion } from '../../../shared/query-log.ts';
import type { Database } from '../../storage/db/database.ts';
import type { QueryLogRow } from '../rows/row.ts';
import { readSums, summarize } from '../statistics/stats-store.ts';
import { DAY_MS } from '../store/block-gatherer.ts';
import { storeBlock } from '../store/block-store.ts';
import { LogWriter } from '../store/log-writer.ts';
import { MergeUpkeep } from '../upkeep/merge-upkeep.ts';
import { NameFolding } from '../upkeep/name-folding.ts';
import { ClearRun } from './clear-run.ts';
import { insertClear, nextOpenClear, readClears, type WantedClear } from './clear-store.ts';

const HOUR_MS = 3_600_000;
/** The day before yesterday, which has ended in every time zone. */
const DAY = Math.floor(Date.now() / DAY_MS) - 2;
const AT_MS = DAY * DAY_MS + 7 * HOUR_MS;
const KIT = { id: 3, ids: [3], name: 'Kit', addresses: ['192.0.2.3'] };
const STILL = new AbortController().signal;

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(() => emptyLog(own.database));
afterAll(() => own.stop());

/**
 * Queries of five clients in two groups for a few names, some of them blocked: two hours on each of two days, from two
 * nodes.
 */
function household(): { rows: QueryLogRow[]; nodeId: number }[] {
  return [0, 1].flatMap((day) =>
    [7, 8].map((nodeId) => ({
      nodeId,
      rows: Array.from({ length: 120 }, (_, i) => {
        const isBlocked = i % 7 === 0;
        return logRow({
          timestampMs: AT_MS + (day - 1) * DAY_MS + i * 60_000 + nodeId,
          client: Uint8Array.of(192, 0, 2, i % 5),
          groupId: 1 + (i % 2),
          qname: wireName(isBlocked ? 'ads.test' : `n${i % 11}.test`),
          status: isBlocked ? 4 : 1,
          responseTimeUs: i,
          // Some queries are not in the log or not counted.
          exclusion: i % 60 === 3 ? Exclusion.LOG : i % 60 === 4 ? Exclusion.STATS : Exclusion.NONE,
        });
      }),
    })),
  );
}

async function store(wanted: (row: QueryLogRow) => boolean = () => true): Promise<void> {
  for (const { rows, nodeId } of household()) {
    // Stores four blocks for each hour, so that the hour gets a top list.
    for (let from = 0; from < rows.length; from += 15) {
      const some = rows.slice(from, from + 15).filter(wanted);
      await storeRows(own.database, some, nodeId);
    }
  }
}

async function fold(database: Database = own.database): Promise<void> {
  const logger = new MemoryLogger();
  for (const nodeId of [7, 8]) await new NameFolding({ database, logger, nodeId }).turn('own');
}

async function clear(wanted: Partial<WantedClear> = {}, database: Database = own.database): Promise<boolean> {
  await own.database.transaction((tx) =>
    insertClear(tx, { by: 'test', from: null, to: new Date(), client: null, ...wanted }),
  );
  return finish(database);
}

/** Runs all clears that are not complete. */
async function finish(database: Database = own.database, logger = new MemoryLogger()): Promise<boolean> {
  for (;;) {
    const open = await nextOpenClear(own.database);
    if (open === null) return true;
    if (!(await new ClearRun({ database, logger }, open, STILL).finish())) return false;
  }
}

const isKit = (row: QueryLogRow): boolean => row.bytes[row.client.at + 3] === 3;

/** The log without the ids of rows. */
async function shown(): Promise<unknown[]> {
  const rows = await storedRows(own.database);
  return rows.map(({ id: _, ...row }) => row);
}

/** Counts of all names and clients from lists and blocks, over the whole time and by day. */
async function sums(): Promise<unknown> {
  const ofSpan = (fromMs: number, toMs: number) =>
    logSourceOf(own.database).read(async (tx) => {
      const { names, clients } = await readSums(tx, { fromMs, toMs }, () => undefined);
      return { names: [...names].sort(), clients: [...clients].sort(), distinct: clients.distinct };
    });
  const days = [-1, 0].map((day) => (DAY + day) * DAY_MS);
  return Promise.all([
    ofSpan(days[0]!, days[1]! + DAY_MS),
    ...days.map((from) => ofSpan(from, from + DAY_MS)),
    ofSpan(AT_MS, AT_MS + HOUR_MS),
  ]);
}

async function counts(): Promise<unknown> {
  return (await own.database.query('SELECT * FROM query_counts ORDER BY grain, start, node_id')).rows;
}

async function lost(): Promise<unknown> {
  const { rows } = await own.database.query<{ lost: number }>(
    `SELECT coalesce(sum(next_seq - (SELECT sum(upper(r) - lower(r)) FROM unnest(stored) AS r)), 0)::integer AS lost
     FROM query_runs`,
  );
  return rows[0]!.lost;
}

const PERIOD = { from: new Date(AT_MS + 30 * 60_000), to: new Date(AT_MS + 90 * 60_000) };
const isInPeriod = ({ timestampMs: ms }: QueryLogRow): boolean =>
  ms >= PERIOD.from.getTime() && ms < PERIOD.to.getTime();

/** Clears, each with a filter for the rows that it removes: the log must then be as if these rows had never existed. */
const CASES: readonly [string, Partial<WantedClear>, (row: QueryLogRow) => boolean][] = [
  ['a client', { client: KIT }, isKit],
  ['a period', PERIOD, isInPeriod],
  ['a client in a period', { ...PERIOD, client: KIT }, (row) => isKit(row) && isInPeriod(row)],
  [
    'a whole day and a part of the next',
    { from: new Date((DAY - 1) * DAY_MS), to: new Date(DAY * DAY_MS + 8 * HOUR_MS) },
    ({ timestampMs: ms }) => ms < DAY * DAY_MS + 8 * HOUR_MS,
  ],
  ['everything', {}, () => true],
];

describe('ClearRun, which deletes logged queries,', () => {
  test.each([
    ...CASES.map(([what, ...rest]) => [what, 'top lists count', true, ...rest] as const),
    ...CASES.slice(0, 1).map(([what, ...rest]) => [what, 'no top list counts', false, ...rest] as const),
  ])(
    'deletes %s, which %s, as if these queries had never been made, and keeps counts and other rows',
    async (_what, _where, isListed, wanted, isGone) => {
      await store((row) => !isGone(row));
      if (isListed) await fold();
      const expected = [await shown(), await sums()];
      await emptyLog(own.database);
      await store();
      if (isListed) await fold();
      const [before, countsBefore] = [await shown(), await counts()];
      expect(await clear(wanted)).toBe(true);
      expect([await shown(), await sums()]).toEqual(expected);
      expect(await counts()).toEqual(countsBefore);
      expect(await lost()).toBe(0);
      const [done] = await readClears(own.database);
      const removed = before.length - (expected[0] as unknown[]).length;
      expect(done).toMatchObject({ state: 'done', progress: 1, rows: removed });
      // A second run finds no rows to remove.
      await clear(wanted);
      expect((await readClears(own.database))[0]).toMatchObject({
        state: 'done',
        rows: 0,
        first_row_at: null,
      });
    },
  );

  test('reports which part of a period was deleted in the statistics of the period', async () => {
    await store();
    await clear({ client: KIT });
    const cleared = async (fromMs: number, toMs: number): Promise<unknown> =>
      logSourceOf(own.database).read(
        async (tx) => summarize(await readSums(tx, { fromMs, toMs }, () => undefined)).log_cleared,
      );
    const first = new Date(AT_MS - DAY_MS + 8 * 60_000 + 7).toISOString();
    const [done] = await readClears(own.database);
    expect(done).toMatchObject({ client_id: 3, client_name: 'Kit', first_row_at: first });
    expect(await cleared(0, Date.now())).toEqual([{ from: first, to: done!.last_row_at }]);
    expect(await cleared(AT_MS, AT_MS + HOUR_MS)).toEqual([
      { from: new Date(AT_MS).toISOString(), to: new Date(AT_MS + HOUR_MS).toISOString() },
    ]);
    expect(await cleared(AT_MS + 5 * DAY_MS, AT_MS + 6 * DAY_MS)).toEqual([]);
  });

  test('never lets the ID of a row refer to a different row', async () => {
    await store();
    const before = new Map((await storedRows(own.database)).map((row) => [row.id, row]));
    await clear({ client: KIT });
    const same = (a: LoggedQuery, b: LoggedQuery): boolean =>
      a.timestamp === b.timestamp && a.client === b.client;
    for (const row of await storedRows(own.database))
      if (before.has(row.id)) expect(same(row, before.get(row.id)!)).toBe(true);
    const questions = questionsOf(own.database);
    const gone = [...before.values()].filter(({ client }) => client === '192.0.2.3');
    for (const { id } of gone) expect(await questions.row(id, STILL)).toBeNull();
  });

  test('also deletes rows that arrive later, for example from a spool, and counts them', async () => {
    const [{ rows }] = household() as [{ rows: QueryLogRow[]; nodeId: number }];
    const all = await batchesOf(rows);
    await clear({ client: KIT });
    await clear({ from: new Date(AT_MS - DAY_MS), to: new Date(AT_MS - DAY_MS + 10 * 60_000) });
    for (const isSecond of [false, true])
      for (const batch of all) {
        const stored = await storeBlock(own.database, batch, { nodeId: 7, durable: true });
        expect(stored.isNew).toBe(!isSecond);
      }
    const logged = rows.filter(({ exclusion }) => exclusion !== Exclusion.LOG);
    const left = logged.filter((row) => !isKit(row) && row.timestampMs >= AT_MS - DAY_MS + 10 * 60_000);
    expect(await shown()).toHaveLength(left.length);
    expect((await shown()).some((row) => (row as LoggedQuery).client === '192.0.2.3')).toBe(false);
    const { rows: stats } = await own.database.query<{ queries: number }>(
      `SELECT sum(queries)::integer AS queries FROM query_counts WHERE grain = 'd'`,
    );
    expect(stats[0]!.queries).toBe(rows.filter(({ exclusion }) => exclusion !== Exclusion.STATS).length);
    const removed = (await readClears(own.database)).reduce((sum, done) => sum + done.rows, 0);
    expect(removed).toBe(logged.length - left.length);
    expect(await lost()).toBe(0);
  });

  test('deletes only the requested rows in two concurrent runs while blocks arrive and are merged', async () => {
    await store();
    const logger = new MemoryLogger();
    const { database, dataDir } = own;
    const writer = new LogWriter({
      database,
      dataDir,
      nodeId: 7,
      logger,
      privacy: () => 'full',
      maxWaitMs: 20,
    });
    let asked = 0;
    const startMs = Date.now();
    // Logs 10,000 queries per second, but in total only as many as a slow machine can clear.
    const traffic = setInterval(() => {
      for (let i = 0; i < 200 && asked < 40_000; i++)
        writer.append(
          logRow({
            timestampMs: Date.now(),
            client: Uint8Array.of(192, 0, 2, asked % 5),
            responseTimeUs: asked++,
          }),
        );
    }, 20);
    const upkeep = async (): Promise<void> => {
      await new MergeUpkeep({ database, logger, nodeId: 7 }).turn('own');
      await fold();
    };
    const wanted: WantedClear = { by: 'test', from: null, to: new Date(startMs + 200), client: KIT };
    for (let round = 0; round < 3 || asked < 10_000; round++) {
      await database.transaction((tx) => insertClear(tx, { ...wanted, to: new Date() }));
      await database.transaction((tx) => insertClear(tx, wanted));
      await Promise.all([finish(), finish(), upkeep()]);
    }
    clearInterval(traffic);
    const lastMs = Date.now();
    await database.transaction((tx) => insertClear(tx, { ...wanted, to: new Date(lastMs + 1) }));
    await writer.close();
    await finish();
    const rows = await storedRows(database);
    expect(rows.some(({ client }) => client === '192.0.2.3')).toBe(false);
    const arrived = rows.filter(({ timestamp }) => Date.parse(timestamp) >= startMs);
    expect(arrived).toHaveLength(asked - Math.floor((asked + 1) / 5));
    expect(new Set(arrived.map(({ response_time_us: us }) => us)).size).toBe(arrived.length);
    expect(await lost()).toBe(0);
    expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test.each(['before', 'after'] as const)(
    'changes a block completely or not at all if the database is lost %s each commit, and can be repeated',
    async (when) => {
      await store((row) => !isKit(row));
      await fold();
      const expected = [await shown(), await sums()];
      await emptyLog(own.database);
      await store();
      await fold();
      const all = (await shown()).length;
      await own.database.transaction((tx) =>
        insertClear(tx, { by: 'test', from: null, to: new Date(), client: KIT }),
      );
      let tries = 0;
      for (let failsAt = 0, isDone = false; !isDone; failsAt++, tries++) {
        const flaky = failingAt(own.database, failsAt % 3, when);
        isDone = await finish(flaky).catch(() => false);
        const left = (await shown()).length;
        const removed = (await readClears(own.database))[0]!.rows;
        expect(left).toBe(all - removed);
      }
      expect(tries).toBeGreaterThan(2);
      expect([await shown(), await sums()]).toEqual(expected);
    },
  );

  test('reports a damaged block once, and deletes it with its period', async () => {
    await store();
    await own.database.query(
      `UPDATE query_blocks SET queries = '\\x00', names = '\\x00' WHERE node_id = 7 AND first_seq = 0`,
    );
    const logger = new MemoryLogger();
    await own.database.transaction((tx) =>
      insertClear(tx, { by: 'test', from: null, to: new Date(), client: KIT }),
    );
    expect(await finish(own.database, logger)).toBe(true);
    expect(logger.lines.filter(({ level }) => level === 'error').length).toBeGreaterThan(0);
    await clear();
    expect((await own.database.query('SELECT FROM query_blocks')).rows).toHaveLength(0);
  });
});

/** A database whose `nth` background change fails, either before or after its commit. */
function failingAt(database: Database, nth: number, when: 'before' | 'after'): Database {
  let changes = 0;
  const background = database.background.bind(database);
  return Object.assign(Object.create(database) as Database, {
    background: () => ({
      read: background().read.bind(background()),
      change: async <T>(work: Parameters<ReturnType<typeof background>['change']>[0]): Promise<T> => {
        const isLost = changes++ === nth;
        if (isLost && when === 'before')
          return background().change(async (client) => {
            await work(client);
            throw new Error('lost');
          });
        const result = (await background().change(work)) as T;
        if (isLost) throw new Error('lost');
        return result;
      },
    }),
  });
}
