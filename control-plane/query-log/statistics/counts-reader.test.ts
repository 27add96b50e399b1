/** Sums of stored counts. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import fc from '../../../test/support/parts/fast-check.ts';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { storeRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { QueryStatus } from '../../../shared/query-log.ts';
import { GRAIN_MS } from '../store/counts-store.ts';
import { partsOf, readBuckets, readCounts } from './counts-reader.ts';

const START_MS = Date.UTC(2026, 6, 5, 22);
const MINUTE_MS = 60_000;

let own: TestDatabase;
/** A query every seven minutes for four hours across midnight; every third one is blocked; two nodes. */
const TIMES = Array.from({ length: 35 }, (_, i) => START_MS + i * 7 * MINUTE_MS + 1234);
beforeAll(async () => {
  own = await startTestDatabase();
  const rows = TIMES.map((timestampMs, i) =>
    logRow({
      timestampMs,
      status: i % 3 === 0 ? QueryStatus.BLOCKED_LIST : QueryStatus.CACHED,
      cached: i % 3 !== 0,
    }),
  );
  await storeRows(own.database, rows.slice(0, 20), 1);
  await storeRows(own.database, rows.slice(15), 2);
});
afterAll(() => own.stop());

/** Rows 15 to 19 are from both nodes. */
const counted = [...TIMES.slice(0, 20), ...TIMES.slice(15)];
const isBlocked = (timeMs: number): boolean => TIMES.indexOf(timeMs) % 3 === 0;

describe('partsOf()', () => {
  test('splits a period without gaps into whole days, quarter-hours and minutes', () => {
    const minute = fc.nat(200_000).map((n) => n * MINUTE_MS);
    fc.assert(
      fc.property(minute, minute, (a, b) => {
        const parts = partsOf(Math.min(a, b), Math.max(a, b));
        let atMs = Math.min(a, b);
        for (const { grain, fromMs, toMs } of parts) {
          expect(fromMs).toBe(atMs);
          expect(fromMs % GRAIN_MS[grain]).toBe(0);
          expect(toMs % GRAIN_MS[grain]).toBe(0);
          atMs = toMs;
        }
        expect(atMs).toBe(Math.max(a, b));
        expect(parts.length).toBeLessThanOrEqual(5);
      }),
    );
  });
});

describe('readCounts()', () => {
  test.each([
    [0, 300],
    [-10_000, 10_000],
    [8, 240],
    [119, 121],
    [10, 10],
  ])('adds up the minutes from %i to %i of all nodes', async (from, to) => {
    const [fromMs, toMs] = [START_MS + from * MINUTE_MS, START_MS + to * MINUTE_MS];
    const within = counted.filter((timeMs) => timeMs >= fromMs && timeMs < toMs);
    const blocked = within.filter(isBlocked).length;
    const { counts, ...totals } = await readCounts(own.database, fromMs, toMs);
    expect(totals).toEqual({
      queries: within.length,
      blocked,
      cached: within.length - blocked,
      forwarded: 0,
      rateLimited: 0,
    });
    expect(counts.get('status:BLOCKED_LIST') ?? 0).toBe(blocked);
    expect(counts.get('type:1') ?? 0).toBe(within.length);
  });
});

describe('readBuckets()', () => {
  test('returns a sum for each interval with queries', async () => {
    const buckets = await readBuckets(own.database, [
      { grain: 'q', fromMs: START_MS, toMs: START_MS + 60 * MINUTE_MS },
    ]);
    expect(buckets.map(({ startMs, queries }) => [(startMs - START_MS) / MINUTE_MS, queries])).toEqual([
      [0, 3],
      [15, 2],
      [30, 2],
      [45, 2],
    ]);
    const days = await readBuckets(own.database, [{ grain: 'd', fromMs: 0, toMs: START_MS * 2 }]);
    expect(days.map(({ queries }) => queries)).toEqual([
      counted.filter((timeMs) => timeMs < START_MS + 120 * MINUTE_MS).length,
      counted.filter((timeMs) => timeMs >= START_MS + 120 * MINUTE_MS).length,
    ]);
  });
});

describe('the SQL views of statistics', () => {
  test.each(['minutes', 'quarters', 'days'])('contain every query once in weir_stats_%s', async (span) => {
    const { rows } = await asOwner(
      own.database,
      `SELECT sum(queries)::integer AS queries, count(DISTINCT node)::integer AS nodes FROM weir_stats_${span}`,
    );
    expect(rows).toEqual([{ queries: counted.length, nodes: 2 }]);
  });

  test('contain counts by kind and value in weir_stats_values', async () => {
    const { rows } = await asOwner(
      own.database,
      `SELECT value, sum(count)::integer AS count FROM weir_stats_values WHERE span = 'day' AND kind = 'status'
       GROUP BY value ORDER BY value`,
    );
    const blocked = counted.filter(isBlocked).length;
    expect(rows).toEqual([
      { value: 'BLOCKED_LIST', count: blocked },
      { value: 'CACHED', count: counted.length - blocked },
    ]);
  });
});
