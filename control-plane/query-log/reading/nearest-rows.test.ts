/** Choice of the rows of a block that may be on a page. */
import { describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { nearestRows } from './nearest-rows.ts';

describe('nearestRows()', () => {
  test('returns the oldest or newest rows, and further rows only if they have the time of the last one', () => {
    const times = fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(
        times,
        fc.integer({ min: 1, max: 45 }),
        fc.boolean(),
        fc.boolean(),
        (of, count, isOldest, isAll) => {
          const rows = of.flatMap((_, row) => (!isAll && row % 3 === 0 ? [] : [row]));
          const sorted = rows.map((row) => of[row]!).sort((a, b) => (isOldest ? a - b : b - a));
          const found = nearestRows(isAll ? null : rows, Float64Array.from(of), count, isOldest);
          const foundTimes = found.map((row) => of[row]!).sort((a, b) => (isOldest ? a - b : b - a));
          expect(new Set(found).size).toBe(found.length);
          expect(foundTimes.slice(0, count)).toEqual(sorted.slice(0, count));
          expect(foundTimes.slice(count)).toEqual(foundTimes.slice(count).fill(sorted[count - 1]!));
        },
      ),
    );
  });
});
