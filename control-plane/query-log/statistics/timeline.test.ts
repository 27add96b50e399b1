import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { emptyLog, logSourceOf, storeRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { GRANULARITIES, type Timeline } from '../../../shared/api/stats-api.ts';
import { QueryStatus } from '../../../shared/query-log.ts';
import type { LogSource } from '../reading/log-source.ts';
import { readSummary } from './stats-store.ts';
import { granularityOf, readTimeline, type TimelineRequest } from './timeline.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let own: TestDatabase;
let log: LogSource;

beforeAll(async () => {
  own = await startTestDatabase();
  log = logSourceOf(own.database);
});
afterAll(() => own.stop());
afterEach(() => emptyLog(own.database));

async function bucketsOf(request: TimelineRequest): Promise<Timeline['buckets']> {
  return (await readTimeline(log, request)).buckets;
}

/** Stores one query at each of these times. */
async function storeAt(timesMs: readonly number[]): Promise<void> {
  await storeRows(
    own.database,
    timesMs.map((timestampMs) => logRow({ timestampMs })),
  );
}

describe('readTimeline()', () => {
  test('returns the outcomes of the queries in each bucket, including empty buckets', async () => {
    const fromMs = Date.UTC(2026, 0, 15, 12);
    const rows = [
      { timestampMs: fromMs },
      { timestampMs: fromMs + 59_999, cached: false, status: QueryStatus.BLOCKED_LIST },
      { timestampMs: fromMs + 120_000, cached: false, status: QueryStatus.RATE_LIMITED },
      {
        timestampMs: fromMs + 120_001,
        cached: false,
        status: QueryStatus.ALLOWED,
        upstream: 'udp://192.0.2.1:53',
      },
      { timestampMs: fromMs + 180_000 },
    ];
    await storeRows(own.database, rows.map(logRow));
    const zero = { total: 0, blocked: 0, cached: 0, forwarded: 0, rate_limited: 0 };
    const span = { fromMs, toMs: fromMs + 180_000 };
    expect(await bucketsOf({ ...span, granularity: 'minute', timezone: 'UTC' })).toEqual([
      { ...zero, timestamp: '2026-01-15T12:00:00.000Z', total: 2, blocked: 1, cached: 1 },
      { ...zero, timestamp: '2026-01-15T12:01:00.000Z' },
      { ...zero, timestamp: '2026-01-15T12:02:00.000Z', total: 2, forwarded: 1, rate_limited: 1 },
    ]);
  });

  test('adds up to the queries of the summary in every time zone, wherever the period begins and ends', async () => {
    const startMs = Date.UTC(2026, 9, 24, 3);
    await storeAt(Array.from({ length: 300 }, (_, i) => startMs + i * 7 * 60_000));
    for (const [fromMin, toMin] of [
      [7, 1901],
      [63, 64],
      [1260, 2050],
      [0, 2100],
    ] as const) {
      const span = { fromMs: startMs + fromMin * 60_000, toMs: startMs + toMin * 60_000 };
      const { queries_total: expected } = await readSummary(log, span);
      expect(expected).toBeGreaterThan(0);
      for (const timezone of ['UTC', 'Europe/Vienna', 'Asia/Kathmandu', 'Australia/Lord_Howe'])
        for (const granularity of GRANULARITIES) {
          const buckets = await bucketsOf({ ...span, granularity, timezone });
          expect(buckets.reduce((sum, { total }) => sum + total, 0)).toBe(expected);
        }
    }
  });

  test('counts days by the clock of the time zone: 25 hours, then 24', async () => {
    const midnightMs = Date.UTC(2026, 9, 24, 22);
    await storeAt(Array.from({ length: 49 }, (_, i) => midnightMs + i * HOUR_MS));
    const span = { fromMs: midnightMs, toMs: midnightMs + 49 * HOUR_MS };
    const days = await bucketsOf({ ...span, granularity: 'day', timezone: 'Europe/Vienna' });
    expect(days.map(({ timestamp, total }) => [timestamp, total])).toEqual([
      ['2026-10-24T22:00:00.000Z', 25],
      ['2026-10-25T23:00:00.000Z', 24],
    ]);
  });
});

describe('granularityOf()', () => {
  test.each([
    [HOUR_MS, 'minute'],
    [DAY_MS, '15min'],
    [7 * DAY_MS, 'hour'],
    [30 * DAY_MS, 'day'],
    [3660 * DAY_MS, 'day'],
  ] as const)('for a period of %d ms is %s', (periodMs, granularity) => {
    expect(granularityOf(periodMs, undefined)).toBe(granularity);
  });

  test('accepts granularities that suit the period, and minutes for up to two days', () => {
    expect(granularityOf(2 * DAY_MS, 'minute')).toBe('minute');
    expect(granularityOf(41 * DAY_MS, '15min')).toBe('15min');
    expect(granularityOf(3660 * DAY_MS, 'day')).toBe('day');
  });

  test.each([
    [2 * DAY_MS + 60_000, 'minute', /two days/],
    [42 * DAY_MS, '15min', /more than 4000 buckets.*finest for it is hour/],
    [365 * DAY_MS, 'hour', /finest for it is day/],
  ] as const)('refuses a period of %d ms with the granularity %s', (periodMs, granularity, message) => {
    expect(() => granularityOf(periodMs, granularity)).toThrow(
      expect.objectContaining({
        status: 400,
        fields: [{ path: 'granularity', message: expect.stringMatching(message) as unknown }],
      }),
    );
  });
});
