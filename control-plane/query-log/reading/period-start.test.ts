import { describe, expect, test } from '@jest/globals';
import { periodStartMs, spanOf } from './period-start.ts';

const NOW_MS = Date.UTC(2026, 6, 5, 12, 34, 56, 789);
const HOUR_MS = 3_600_000;
const text = (timeMs: number): string => new Date(timeMs).toISOString();

describe('periodStartMs()', () => {
  test.each([
    [60_000, '2026-07-05T12:33:00.000Z'],
    [24 * HOUR_MS, '2026-07-04T12:34:00.000Z'],
    [48 * HOUR_MS, '2026-07-03T12:30:00.000Z'],
    [30 * 24 * HOUR_MS, '2026-06-05T12:30:00.000Z'],
  ])('for %i ms is the start of a period whose counts are stored', (periodMs, expected) => {
    expect(text(periodStartMs(NOW_MS, periodMs))).toBe(expected);
  });
});

describe('spanOf()', () => {
  test('ends with the current minute', () => {
    expect(text(spanOf(NOW_MS, HOUR_MS).toMs)).toBe('2026-07-05T12:35:00.000Z');
    expect(spanOf(60_000, 60_000)).toEqual({ fromMs: 0, toMs: 120_000 });
  });
});
