import { expect, test } from '@jest/globals';
import { usedPercent } from './used-percent.ts';

test.each([
  [25, 100, 75],
  [0, 100, 100],
  [120, 100, 0],
  [null, 100, null],
  [5, null, null],
  [0, 0, null],
])('usedPercent() of %p free from a total of %p is %p', (free, size, used) => {
  expect(usedPercent(free, size)).toBe(used);
});
