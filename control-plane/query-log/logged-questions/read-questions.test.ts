import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { logSourceOf, storeRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase, type TestDatabase } from '../../../test/support/parts/test-database.ts';
import { READ_LIMITS, readQuestions } from './read-questions.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 6, 5, 12);

let own: TestDatabase;

/** Three blocks at intervals of an hour, each with ten queries at intervals of a minute. */
beforeAll(async () => {
  own = await startTestDatabase();
  for (let block = 0; block < 3; block++)
    await storeRows(
      own.database,
      Array.from({ length: 10 }, (_, i) =>
        logRow({
          timestampMs: START_MS + block * HOUR_MS + i * 60_000,
          qname: wireName(`n${i}.b${block}.example`),
        }),
      ),
    );
});
afterAll(() => own.stop());

const read = (fromMs: number, toMs: number, limits = READ_LIMITS) =>
  readQuestions(logSourceOf(own.database), { fromMs, toMs, withAddresses: false }, limits);

describe('readQuestions()', () => {
  test('reads the queries of a period, even if blocks at its ends also contain other queries', async () => {
    const found = await read(START_MS + 5 * 60_000, START_MS + 2 * HOUR_MS + 60_000);
    expect(found).toMatchObject({ evaluated: 16, notEvaluated: 0, leftOut: 0, damagedBlocks: 0 });
    expect(found.questions.count).toBe(16);
    expect(found.oldestMs).toBe(START_MS + 5 * 60_000);
  });

  test('reads the newest blocks up to its limits, and counts the queries that it leaves out', async () => {
    for (const limits of [{ rows: 15 }, { questions: 15 }, { bytes: 150 }]) {
      const found = await read(START_MS, START_MS + 3 * HOUR_MS, { ...READ_LIMITS, ...limits });
      expect(found).toMatchObject({ evaluated: 20, leftOut: 10, oldestMs: START_MS + HOUR_MS });
    }
  });

  test('finds nothing in an empty period', async () => {
    const found = await read(START_MS - HOUR_MS, START_MS);
    expect(found).toMatchObject({ evaluated: 0, leftOut: 0, oldestMs: null });
    expect([found.questions.count, found.questions.names.count]).toEqual([0, 0]);
  });

  test('leaves out a damaged block, and reports it', async () => {
    await own.database.query(
      `UPDATE query_blocks SET names = set_byte(names, 9, get_byte(names, 9) # 255)
       WHERE first_time = to_timestamp($1)`,
      [START_MS / 1000],
    );
    expect(await read(START_MS, START_MS + 3 * HOUR_MS)).toMatchObject({ evaluated: 20, damagedBlocks: 1 });
  });
});
