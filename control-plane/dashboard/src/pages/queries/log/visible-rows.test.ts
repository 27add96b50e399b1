import { describe, expect, test } from '@jest/globals';
import { MAX_ELEMENTS, visibleRows } from './visible-rows.ts';

describe('visibleRows(), the rows to render,', () => {
  test('start with the newest row', () => {
    const { first, last } = visibleRows({ abovePx: -200, heightPx: 900, rowPx: 50, count: 50_000 });
    expect(first).toBe(0);
    expect(last).toBeGreaterThanOrEqual(14);
    expect(last).toBeLessThanOrEqual(22);
  });

  test('cover the visible part at any scroll position', () => {
    for (const abovePx of [0, 49, 1_234, 999_999, 2_499_100]) {
      const { first, last } = visibleRows({ abovePx, heightPx: 900, rowPx: 50, count: 50_000 });
      expect(first * 50).toBeLessThanOrEqual(abovePx);
      expect(last * 50).toBeGreaterThanOrEqual(Math.min(abovePx + 900, 2_500_000));
    }
  });

  test('never exceed the maximum number of elements', () => {
    const { first, last } = visibleRows({ abovePx: 5_000, heightPx: 9_000, rowPx: 50, count: 50_000 });
    expect(last - first).toBe(MAX_ELEMENTS);
  });

  test('stay within a list that has become shorter', () => {
    expect(visibleRows({ abovePx: 5_000, heightPx: 900, rowPx: 50, count: 3 })).toEqual({
      first: 0,
      last: 3,
    });
    expect(visibleRows({ abovePx: 0, heightPx: 900, rowPx: 50, count: 0 })).toEqual({ first: 0, last: 0 });
  });

  test('are a few rows before the row height is known', () => {
    expect(visibleRows({ abovePx: 0, heightPx: 900, rowPx: 0, count: 500 }).last).toBe(6);
  });
});
