import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { emptyLog, storeRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import type { Database, LentClient } from '../../storage/db/database.ts';
import { DAY_MS } from '../store/block-gatherer.ts';
import { KeyTable } from '../top-lists/key-table.ts';
import { NameList } from '../top-lists/name-list.ts';
import { startOf } from '../top-lists/list-parts.ts';
import { lockLists, type NameLists, readLists } from '../top-lists/name-list-store.ts';
import { NameFolding } from './name-folding.ts';

const HOUR_MS = 3_600_000;
/** The day before yesterday, which has ended in every time zone. */
const DAY = Math.floor(Date.now() / DAY_MS) - 2;
const AT_MS = DAY * DAY_MS + 7 * HOUR_MS;

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(() => emptyLog(own.database));
afterAll(() => own.stop());

function folding(
  change: { nodeId?: number; logger?: MemoryLogger; database?: Database; max?: number } = {},
): NameFolding {
  const { nodeId = 7, logger = new MemoryLogger(), database = own.database, max } = change;
  const maxEntries = max === undefined ? {} : { maxEntries: { h: max, d: max, M: max } };
  return new NameFolding({ database, logger, nodeId, ...maxEntries });
}

/** Stores blocks with three queries each, for two names, from two clients in two groups; the third query is blocked. */
async function store(blocks: number, startMs = AT_MS, nodeId = 7): Promise<void> {
  for (let block = 0; block < blocks; block++) {
    const rows = [0, 1, 2].map((row) =>
      logRow({
        timestampMs: startMs + block * 1000 + row,
        client: Uint8Array.of(192, 0, 2, row % 2),
        groupId: 1 + (row % 2),
        qname: wireName(row === 2 ? 'ads.test' : `n${block % 2}.test`),
        status: row === 2 ? 4 : 1,
      }),
    );
    await storeRows(own.database, rows, nodeId);
  }
}

/** Name, group, counts and possibly missed counts of each entry of both tables. */
function inWords(lists: NameLists | null): Record<string, number[]> | null {
  if (lists === null) return null;
  const words = [lists.names, lists.clients].flatMap((list) => {
    const table = new KeyTable();
    new NameList(list).addTo(table);
    return Array.from({ length: table.size }, (_, place): [string, number[]] => [
      `${table.text(place)} ${table.tags[place]}`,
      [
        table.resolved[place]!,
        table.blocked[place]!,
        table.other[place]!,
        table.unseen - table.known[place]!,
      ],
    ]);
  });
  return Object.fromEntries(words.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const listOf = async (grain: 'h' | 'd' | 'M', nodeId = 7): Promise<NameLists | null> =>
  readLists(own.database, { grain, startMs: startOf(grain, AT_MS), nodeId });

async function grains(): Promise<unknown[]> {
  const { rows } = await own.database.query<Record<string, unknown>>(
    'SELECT grain, queries, node_id FROM query_names ORDER BY node_id, grain, start',
  );
  return rows.map((row) => Object.values(row));
}

async function marks(): Promise<unknown[]> {
  const { rows } = await own.database.query<{ listed: string | null }>(
    'SELECT listed FROM query_blocks ORDER BY first_time, run_id',
  );
  return rows.map(({ listed }) => listed);
}

const TWO_BLOCKS = {
  '192.0.2.0 1': [2, 2, 0, 0],
  '192.0.2.1 2': [2, 0, 0, 0],
  'ads.test 1': [0, 2, 0, 0],
  'n0.test 1': [1, 0, 0, 0],
  'n0.test 2': [1, 0, 0, 0],
  'n1.test 1': [1, 0, 0, 0],
  'n1.test 2': [1, 0, 0, 0],
};

/** A database whose changes fail at statement number `statement`. */
function failingAt(statement: number): Database {
  const fail = (client: LentClient): LentClient => {
    let count = 0;
    const query = (...args: [string]): unknown => {
      if (count++ === statement) throw new Error('interrupted');
      return client.query(...args);
    };
    return { query } as unknown as LentClient;
  };
  const { database } = own;
  const background = database.background.bind(database);
  return {
    background: () => ({
      read: <T>(work: Parameters<ReturnType<Database['background']>['read']>[0]) =>
        background().read(work) as Promise<T>,
      change: <T>(work: (client: LentClient) => Promise<T>) =>
        background().change((client) => work(fail(client))),
    }),
  } as unknown as Database;
}

describe('NameFolding, which adds blocks to top lists,', () => {
  test('turn() adds the blocks of a past day to the top lists of the day and the month', async () => {
    await store(2);
    expect(await folding().turn('own-and-ended')).toBe(6);
    expect(inWords(await listOf('d'))).toEqual(TWO_BLOCKS);
    expect(inWords(await listOf('M'))).toEqual(TWO_BLOCKS);
    expect(await listOf('h')).toBeNull();
    expect(await marks()).toEqual(['d', 'd']);
    expect(await folding().turn('own-and-ended')).toBe(0);
  });

  test('turn() creates a top list of an hour with many blocks, and adds late blocks to it', async () => {
    await store(4);
    await store(1, AT_MS + HOUR_MS);
    expect(await folding().turn('own-and-ended')).toBe(15);
    expect(await grains()).toEqual([
      ['M', 15, 7],
      ['d', 15, 7],
      ['h', 12, 7],
    ]);
    expect(await marks()).toEqual(['h', 'h', 'h', 'h', 'd']);
    await store(1, AT_MS + 60_000);
    expect(await folding().turn('own-and-ended')).toBe(3);
    expect((await listOf('h'))!.queries).toBe(15);
    expect((await listOf('d'))!.queries).toBe(18);
    expect(inWords(await listOf('h'))!['ads.test 1']).toEqual([0, 5, 0, 0]);
  });

  test('turn() creates no top list of the current hour, nor of the current day if its hours have few blocks', async () => {
    // The blocks are in the hour of the next minute, which cannot end during the test.
    const nowMs = Date.now() + 60_000;
    await store(5, nowMs);
    await store(1, nowMs + HOUR_MS);
    expect(await folding().turn('own-and-ended')).toBe(0);
    expect(await marks()).toEqual([null, null, null, null, null, null]);
  });

  test('turn() does not add blocks of another node until its run has ended', async () => {
    await store(1, AT_MS, 8);
    expect(await folding().turn('own-and-ended')).toBe(0);
    await own.database.query(`UPDATE query_runs SET last_at = now() - interval '2 hours'`);
    expect(await folding().turn('own-and-ended')).toBe(3);
    expect(await grains()).toEqual([
      ['M', 3, 8],
      ['d', 3, 8],
    ]);
  });

  test('turn() adds each block once if it runs several times concurrently', async () => {
    await store(12);
    const all = Promise.all([
      folding().turn('own-and-ended'),
      folding().turn('own-and-ended'),
      folding().turn('own-and-ended'),
    ]);
    expect((await all).reduce((sum, queries) => sum + queries, 0)).toBeGreaterThan(0);
    while ((await folding().turn('own-and-ended')) > 0);
    expect(await grains()).toEqual([
      ['M', 36, 7],
      ['d', 36, 7],
      ['h', 36, 7],
    ]);
    expect(inWords(await listOf('M'))!['ads.test 1']).toEqual([0, 12, 0, 0]);
  });

  test('turn() stores nothing if it is interrupted at any statement', async () => {
    await store(4);
    await folding().turn('own-and-ended');
    await store(2, AT_MS + 60_000);
    const before = [await grains(), await marks()];
    for (let statement = 0; statement < 8; statement++) {
      await expect(folding({ database: failingAt(statement) }).turn('own-and-ended')).rejects.toThrow(
        'interrupted',
      );
      expect([await grains(), await marks()]).toEqual(before);
    }
    expect(await folding({ database: failingAt(8) }).turn('own-and-ended')).toBe(6);
    expect((await listOf('d'))!.queries).toBe(18);
  });

  test('turn() rolls back if blocks were merged while it runs, and stops when it is aborted', async () => {
    await store(3);
    await storeRows(own.database, [logRow({ timestampMs: AT_MS + HOUR_MS })], 7);
    const merging: Database = Object.assign(Object.create(own.database) as Database, {
      background: () => ({
        read: own.database.background().read.bind(own.database.background()),
        change: async (work: (client: LentClient) => Promise<unknown>) => {
          await own.database.query('UPDATE query_blocks SET row_count = row_count + 1');
          return own.database.background().change(work);
        },
      }),
    });
    expect(await folding({ database: merging }).turn('own-and-ended')).toBe(0);
    expect([await grains(), await marks()]).toEqual([[], [null, null, null, null]]);
    expect(await folding().turn('own-and-ended', AbortSignal.abort())).toBe(0);
  });

  test('turn() skips a damaged block and logs it once', async () => {
    await store(3);
    await own.database.query(
      `UPDATE query_blocks SET names = '\\x00' WHERE first_time = (SELECT min(first_time) FROM query_blocks)`,
    );
    const logger = new MemoryLogger();
    const one = folding({ logger });
    expect([await one.turn('own-and-ended'), await one.turn('own-and-ended')]).toEqual([6, 0]);
    expect(await marks()).toEqual([null, 'd', 'd']);
    expect(logger.lines.map(({ level }) => level)).toEqual(['error']);
    expect(await one.foldDay(DAY)).toBe(true);
  });

  test('turn() rebuilds a damaged top list and logs that', async () => {
    await store(1);
    await folding().turn('own-and-ended');
    await own.database.query(`UPDATE query_names SET names = '\\x00' WHERE grain = 'd'`);
    await store(1, AT_MS + HOUR_MS);
    const logger = new MemoryLogger();
    expect(await folding({ logger }).turn('own-and-ended')).toBe(3);
    expect(logger.lines).toMatchObject([
      { level: 'error', fields: { list: expect.stringMatching(/^d .* 7$/) } },
    ]);
    expect(inWords(await listOf('d'))).toMatchObject({
      'ads.test 1': [0, 1, 0, 0],
      '192.0.2.0 1': [2, 2, 0, 0],
    });
  });

  test('turn() keeps the largest counts in a full top list, and stores the maximum count that it may have omitted', async () => {
    const rows = Array.from({ length: 40 }, (_, i) =>
      logRow({ timestampMs: AT_MS + i, qname: wireName(`n${Math.floor(Math.sqrt(i))}.test`) }),
    );
    await storeRows(own.database, rows, 7);
    await folding({ max: 3 }).turn('own-and-ended');
    const { rows: figures } = await own.database.query(
      `SELECT queries, name_entries, names_unseen, client_entries, clients_unseen FROM query_names WHERE grain = 'd'`,
    );
    expect(figures).toEqual([
      { queries: 40, name_entries: 3, names_unseen: 5, client_entries: 1, clients_unseen: 0 },
    ]);
    expect(inWords(await listOf('d'))).toEqual({
      '192.0.2.7 1': [40, 0, 0, 0],
      'n3.test 1': [7, 0, 0, 0],
      'n4.test 1': [9, 0, 0, 0],
      'n5.test 1': [11, 0, 0, 0],
    });
  });

  test('foldDay() adds the remaining blocks of a day, of every node, and returns false during another run', async () => {
    const today = Math.floor(Date.now() / DAY_MS);
    await store(1, today * DAY_MS, 7);
    await store(1, today * DAY_MS, 8);
    await own.database.withClient(async (client) => {
      await client.query('BEGIN');
      await lockLists(client, 8);
      expect(await folding().foldDay(today)).toBe(false);
      await client.query('ROLLBACK');
    });
    expect(await marks()).toEqual(['d', null]);
    expect(await folding().foldDay(today)).toBe(true);
    expect(await marks()).toEqual(['d', 'd']);
    expect(await folding().foldDay(today - 100)).toBe(true);
  });
});
