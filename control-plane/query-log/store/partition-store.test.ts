import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { DAY_MS } from './block-gatherer.ts';
import { dropPartitions, ensurePartitions, listPartitions, partitionOf } from './partition-store.ts';

const TODAY = Date.UTC(2026, 6, 5) / DAY_MS;
let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());

describe('partitionOf()', () => {
  test('returns the name of the day in UTC', () => {
    expect(partitionOf(TODAY)).toBe('query_blocks_20260705');
  });
});

describe('ensurePartitions()', () => {
  test('creates a day once, even if several nodes do so at the same time', async () => {
    await Promise.all([1, 2, 3].map(() => ensurePartitions(own.database, [TODAY - 100, TODAY - 99])));
    expect(await listPartitions(own.database)).toEqual([TODAY - 100, TODAY - 99]);
  });

  test('does not wait for readers of the log', async () => {
    await own.database.transaction(async (tx) => {
      await tx.query('SELECT count(*) FROM query_blocks');
      await ensurePartitions(own.database, [TODAY - 98]);
    });
    expect(await listPartitions(own.database)).toContain(TODAY - 98);
  });
});

describe('dropPartitions()', () => {
  test('deletes the top lists of hours with the day, and keeps the top lists of the day and the month', async () => {
    await ensurePartitions(own.database, [TODAY]);
    await own.database.query(
      `INSERT INTO query_names SELECT grain::"char", start, 1, 0, 0, 0, 0, 0, false, 0, 0, '', ''
       FROM unnest($1::text[], $2::timestamptz[]) AS list (grain, start)`,
      [
        ['h', 'h', 'd', 'd', 'M'],
        [5, 24, 0, 24, -4 * 24].map((hour) => new Date(TODAY * DAY_MS + hour * 3_600_000)),
      ],
    );
    await dropPartitions(own.database, [TODAY]);
    const { rows } = await own.database.query<{ grain: string; start: Date; is_alone: boolean }>(
      'SELECT grain, start, is_alone FROM query_names ORDER BY grain, start',
    );
    expect(rows.map(({ grain, start, is_alone }) => [grain, start.toISOString(), is_alone])).toEqual([
      ['M', '2026-07-01T00:00:00.000Z', false],
      ['d', '2026-07-05T00:00:00.000Z', true],
      ['d', '2026-07-06T00:00:00.000Z', false],
      ['h', '2026-07-06T00:00:00.000Z', false],
    ]);
    expect(await listPartitions(own.database)).not.toContain(TODAY);
  });
});
