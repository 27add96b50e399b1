import { describe, expect, test } from '@jest/globals';
import { isDue } from './refresh-schedule.ts';

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;
const MINUTE = 60_000;

describe('isDue()', () => {
  test.each([
    ['was never tried', undefined, 0, true],
    ['succeeded a little less than 24 hours ago', NOW - 24 * HOUR + 1, 0, false],
    ['succeeded 24 hours ago', NOW - 24 * HOUR, 0, true],
    ['failed once, less than a minute ago', NOW - MINUTE + 1, 1, false],
    ['failed once, a minute ago', NOW - MINUTE, 1, true],
    ['failed four times, 7 minutes ago', NOW - 7 * MINUTE, 4, false],
    ['failed four times, 8 minutes ago', NOW - 8 * MINUTE, 4, true],
    ['failed a thousand times, 29 minutes ago', NOW - 29 * MINUTE, 1000, false],
    ['failed a thousand times, 30 minutes ago', NOW - 30 * MINUTE, 1000, true],
    ['was tried in the future, by a node with a fast clock', NOW + 1, 0, false],
    ['was tried in the future, the clock having been set back', NOW + 48 * HOUR, 0, true],
  ])('is correct for a list that %s', (_what, lastMs, failures, expected) => {
    expect(isDue({ lastMs, failures }, NOW, { refreshHours: 24 })).toBe(expected);
  });

  test.each([0, 1])(
    'after %d failures is true later on nodes other than the one that last fetched the list',
    (failures) => {
      const lastMs = NOW - (failures === 0 ? 24 * HOUR : MINUTE);
      const pace = { refreshHours: 24, graceMs: 1000 };
      expect([NOW + 999, NOW + 1000].map((at) => isDue({ lastMs, failures }, at, pace))).toEqual([
        false,
        true,
      ]);
    },
  );
});
