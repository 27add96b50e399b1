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

/** Stores a row at the start of each of these days, so that its query is counted. */
async function count(days: readonly number[]): Promise<void> {
  await storeRows(
    own.database,
    days.map((day) => logRow({ timestampMs: day * DAY_MS })),
  );
}

/** Ages in days of the days that have counts of a granularity. */
async function agesOf(grain: string): Promise<number[]> {
  const { rows } = await own.database.query<{ start: Date }>(
    'SELECT start FROM query_counts WHERE grain = $1 ORDER BY start DESC',
    [grain],
  );
  return rows.map(({ start }) => today - start.getTime() / DAY_MS);
}

/** Adds empty lists whose blocks no longer exist. */
async function addLists(grain: 'd' | 'M', startsMs: readonly number[]): Promise<void> {
  await own.database.query(
    `INSERT INTO query_names SELECT $1::"char", start, 1, 0, 0, 0, 0, 0, true, 0, 0, '', ''
     FROM unnest($2::timestamptz[]) AS start`,
    [grain, startsMs.map((ms) => new Date(ms))],
  );
}

async function listAges(grain: string): Promise<number[]> {
  const { rows } = await own.database.query<{ start: Date }>(
    'SELECT start FROM query_names WHERE grain = $1 ORDER BY start DESC',
    [grain],
  );
  return rows.map(({ start }) => today - start.getTime() / DAY_MS);
}

describe('CountsDays', () => {
  test('keep() keeps minutes of today and the two days before, and longer intervals for rollup_days', async () => {
    await count([5, 4, 3, 2, 1, 0].map((age) => today - age));
    await keeper(5).keep();
    expect(await agesOf('m')).toEqual([0, 1, 2]);
    expect(await agesOf('q')).toEqual([0, 1, 2, 3, 4]);
    expect(await agesOf('d')).toEqual([0, 1, 2, 3, 4]);
  });

  test('keep() deletes nothing at first if the clock is a year ahead, then one day per hour, and logs that', async () => {
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

  test('keep() keeps top lists for rollup_days, and longer while there are blocks of their day', async () => {
    await addLists(
      'd',
      [8, 7, 6, 5, 4, 3, 2, 1, 0].map((age) => (today - age) * DAY_MS),
    );
    await own.database.query('UPDATE query_names SET is_alone = false WHERE start = $1', [
      new Date((today - 7) * DAY_MS),
    ]);
    await keeper(5).keep();
    expect(await listAges('d')).toEqual([0, 1, 2, 3, 4, 7]);
  });

  test('keep() deletes the top list of a month with the top list of its last day', async () => {
    const lastMs = Date.UTC(2025, 4, 31);
    const days = Array.from({ length: 40 }, (_, i) => lastMs + (i - 20) * DAY_MS);
    await addLists('d', days);
    await addLists('M', [Date.UTC(2025, 3), Date.UTC(2025, 4), Date.UTC(2025, 5)]);
    const months = async (): Promise<string[]> => {
      const { rows } = await own.database.query<{ start: Date }>(
        `SELECT start FROM query_names WHERE grain = 'M' ORDER BY start`,
      );
      return rows.map(({ start }) => start.toISOString().slice(0, 7));
    };
    const names = keeper(19);
    await names.keep();
    expect((await listAges('d')).length).toBe(19);
    expect(await months()).toEqual(['2025-06']);
    await own.database.query(`DELETE FROM query_names`);
    await addLists('d', days);
    await addLists('M', [Date.UTC(2025, 3), Date.UTC(2025, 4), Date.UTC(2025, 5)]);
    await keeper(21).keep();
    expect(await months()).toEqual(['2025-05', '2025-06']);
  });
});
