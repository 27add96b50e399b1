import { describe, expect, test } from '@jest/globals';
import { hedgeWaitMs, resendWaitMs, retryWaitMs } from './send-times.ts';

describe('resendWaitMs(), the wait before the query is sent again,', () => {
  test.each([
    ['an unknown latency', 1, 0, 3000, [300, 900]],
    ['a short latency', 1, 5, 3000, [200, 600]],
    ['a latency between the bounds', 1, 250, 3000, [250, 750]],
    ['a long latency', 1, 2000, 3000, [400, 1200]],
    ['the second copy', 2, 5, 2800, [400, 1200]],
    ['little time left: soon enough for an answer', 2, 5, 400, [100, 200]],
  ])('is between one and three times the latency: %s', (_what, copies, usualMs, leftMs, expected) => {
    expect([0, 1].map((random) => resendWaitMs(copies, usualMs, leftMs, random))).toEqual(expected);
  });

  test('allows at most three copies, and none whose answer would come after the timeout', () => {
    expect(resendWaitMs(3, 5, 3000, 0)).toBe(Infinity);
    expect(resendWaitMs(1, 5, 200, 0)).toBe(Infinity);
  });
});

describe('hedgeWaitMs(), the wait before the next server is queried,', () => {
  test.each([
    [0, 200],
    [3, 100],
    [150, 150],
    [3000, 500],
  ])('for a usual latency of %d ms is %d ms', (usualMs, expected) => {
    expect(hedgeWaitMs(usualMs)).toBe(expected);
  });
});

describe('retryWaitMs(), the wait before a failed query is sent again,', () => {
  test('is about 300 and 900 ms after the start, at least 100 ms, and then infinite', () => {
    expect([0, 1].map((random) => Math.round(retryWaitMs(1, 10, random)))).toEqual([290, 320]);
    expect([0, 1].map((random) => Math.round(retryWaitMs(2, 310, random)))).toEqual([590, 680]);
    expect(retryWaitMs(2, 2000, 0.5)).toBe(100);
    expect(retryWaitMs(3, 910, 0.5)).toBe(Infinity);
  });
});
