import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { emptyLog, storeRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { DAY_MS } from '../store/block-gatherer.ts';
import { CountsDays } from './counts-days.ts';
import { dayInDatabase } from './log-days.ts';

const HOUR_MS = 3_600_000;

let own: TestDatabase;
let monotonicMs = 0;
let today: number;
beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(async () => {
  await emptyLog(own.database);
  today = await dayInDatabase(own.database, HOUR_MS);
});
afterAll(() => own.stop());

function keeper(rollupDays: number, logger = new MemoryLogger()): CountsDays {
  const clock = { monotonicMs: () => monotonicMs };
  return new CountsDays({ database: own.database, clock, logger, rollupDays: () => rollupDays });
}

/** Counts the queries of a row of each day, at its start. */
async function count(days: readonly number[]): Promise<void> {
  await storeRows(
    own.database,
    days.map((day) => logRow({ timestampMs: day * DAY_MS })),
  );
}

/** Days before today that have counts of a grain. */
async function agesOf(grain: string): Promise<number[]> {
  const { rows } = await own.database.query<{ start: Date }>(
    'SELECT start FROM query_counts WHERE grain = $1 ORDER BY start DESC',
    [grain],
  );
  return rows.map(({ start }) => today - start.getTime() / DAY_MS);
}

describe('CountsDays', () => {
  test('keep() keeps minutes of two whole days before today, and the rest for rollup_days', async () => {
    await count([5, 4, 3, 2, 1, 0].map((age) => today - age));
    await keeper(5).keep();
    expect(await agesOf('m')).toEqual([0, 1, 2]);
    expect(await agesOf('q')).toEqual([0, 1, 2, 3, 4]);
    expect(await agesOf('d')).toEqual([0, 1, 2, 3, 4]);
  });

  test('keep() drops nothing at once where the clock is a year ahead, then a day an hour and says so', async () => {
    await count([365, 364, 363, 0].map((age) => today - age));
    const logger = new MemoryLogger();
    const days = keeper(300, logger);
    await days.keep();
    expect(await agesOf('d')).toEqual([0, 363, 364, 365]);
    expect(await agesOf('m')).toEqual([0, 363, 364, 365]);
    monotonicMs += HOUR_MS;
    await days.keep();
    await days.keep();
    expect(await agesOf('d')).toEqual([0, 363, 364]);
    expect(await agesOf('q')).toEqual([0, 363, 364]);
    expect(await agesOf('m')).toEqual([0, 363, 364]);
    expect(logger.lines.filter(({ level }) => level === 'warn')).toHaveLength(2);
  });
});
