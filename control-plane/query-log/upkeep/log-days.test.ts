import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { emptyLog, storeRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { until } from '../../../test/support/parts/until.ts';
import { DAY_MS } from '../store/block-gatherer.ts';
import { dayInDatabase, LogDays } from './log-days.ts';
import {
  dropPartitions,
  ensurePartitions,
  listFilledPartitions,
  listPartitions,
} from '../store/partition-store.ts';

const HOUR_MS = 3_600_000;
const LOGGER = new MemoryLogger();

let own: TestDatabase;
let monotonicMs = 0;
beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(async () => {
  // If midnight is near, waits until it has passed, because the kept days would then differ from the expected ones.
  const leftMs = (): number => DAY_MS - (Date.now() % DAY_MS);
  await until('midnight to pass', leftMs, (ms) => ms > 20_000, { pauseMs: 100 });
  await dropPartitions(own.database, await listPartitions(own.database));
  await emptyLog(own.database);
});
afterAll(() => own.stop());

/** Creates the object under test, as a Weir server does that starts now. */
function keeper(keptDays = 30): LogDays {
  const clock = { monotonicMs: () => monotonicMs };
  return new LogDays({ database: own.database, clock, logger: LOGGER, queryLogDays: () => keptDays });
}

/** Stores a row on each of these days. */
async function log(days: readonly number[]): Promise<void> {
  await storeRows(
    own.database,
    days.map((day) => logRow({ timestampMs: day * DAY_MS + HOUR_MS })),
  );
}

const filled = (): Promise<number[]> => listFilledPartitions(own.database);
const daysFrom = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => first + i);

describe('LogDays', () => {
  test('keep() creates the next days and deletes days older than query_log_days', async () => {
    const days = keeper();
    const today = await dayInDatabase(own.database);
    await log(daysFrom(today - 33, 34));
    await ensurePartitions(own.database, [today - 40]);
    await days.keep();
    expect(await listPartitions(own.database)).toEqual(daysFrom(today - 29, 32));
    await keeper(1).keep();
    expect(await listPartitions(own.database)).toEqual(daysFrom(today, 3));
  });

  test('keep() keeps the log if the clock is a year ahead, even after queries were logged with this clock', async () => {
    const days = keeper();
    const ahead = await dayInDatabase(own.database);
    const days30 = daysFrom(ahead - 394, 30);
    await log(days30);
    await days.keep();
    await log([ahead]);
    await days.keep();
    expect(await filled()).toEqual([...days30, ahead]);
    // A restart also deletes no days.
    await keeper().keep();
    expect(await filled()).toEqual([...days30, ahead]);
  });

  test('keep() deletes old days, one per hour, after Weir has not run for a long time', async () => {
    const days = keeper();
    const today = await dayInDatabase(own.database);
    await log([...daysFrom(today - 60, 10), today]);
    for (let hour = 0; hour < 4; hour++) {
      await days.keep();
      monotonicMs += HOUR_MS;
    }
    expect(await filled()).toEqual([...daysFrom(today - 57, 7), today]);
    for (let hour = 0; hour < 10; hour++) {
      await days.keep();
      monotonicMs += HOUR_MS;
    }
    expect(await filled()).toEqual([today]);
  });

  test('keep() deletes runs by the age of the log, not by a clock that is ahead', async () => {
    const days = keeper();
    const ahead = await dayInDatabase(own.database);
    await log([ahead - 100]);
    await own.database.query(`UPDATE query_runs SET last_at = now() - interval '100 days'`);
    await days.keep();
    expect((await own.database.query('SELECT 1 FROM query_runs')).rows).toHaveLength(1);
    await log(daysFrom(ahead - 99, 100));
    await days.keep();
    expect((await own.database.query('SELECT 1 FROM query_runs')).rows).toHaveLength(1);
  });

  test('keep() deletes a day after its counts and exports are stored, or after storing them has failed', async () => {
    const today = await dayInDatabase(own.database);
    await log(daysFrom(today - 3, 4));
    const asked: number[] = [];
    const clock = { monotonicMs: () => monotonicMs };
    const dropping = (beforeDrop: (day: number) => Promise<boolean>): LogDays =>
      new LogDays({ database: own.database, clock, logger: LOGGER, queryLogDays: () => 2, beforeDrop });
    await dropping(async (day) => {
      asked.push(today - day);
      return day === today - 3;
    }).keep();
    expect(asked).toEqual([3, 2]);
    expect(await filled()).toEqual(daysFrom(today - 2, 3));
    await dropping(() => Promise.reject(new Error('no memory'))).keep();
    expect(await filled()).toEqual(daysFrom(today - 1, 2));
  });
});
