import { describe, expect, test } from '@jest/globals';
import { BoundedSums } from './bounded-sums.ts';

interface Count {
  queries: number;
}

function sums(most: number): BoundedSums<Count> {
  return new BoundedSums<Count>(
    () => ({ queries: 0 }),
    ({ queries }) => queries,
    most,
  );
}

describe('BoundedSums', () => {
  test('is exact up to its bound', () => {
    const counted = sums(100);
    for (let i = 0; i < 300; i++) counted.sumOf(`n${i % 100}`).queries++;
    expect([...counted.values()].every(({ queries }) => queries === 3)).toBe(true);
    expect([counted.distinct, counted.isEstimate]).toEqual([100, false]);
  });

  test('keeps the largest sums through a flood of keys that come once, and tells how many there were', () => {
    const counted = sums(1000);
    for (let i = 0; i < 200_000; i++) {
      counted.sumOf(`random-${i}.example`).queries++;
      if (i % 10 === 0) counted.sumOf(`asked-${i % 70}.example`).queries++;
    }
    expect(counted.size).toBeLessThanOrEqual(1000);
    for (const i of [0, 10, 20, 30, 40, 50, 60]) {
      expect(counted.get(`asked-${i}.example`)!.queries).toBeGreaterThan(2800);
    }
    expect(counted.isEstimate).toBe(true);
    expect(Math.abs(counted.distinct - 200_007)).toBeLessThan(2000);
  });

  test('stays within its bound where all sums are equal and large', () => {
    const counted = sums(10);
    for (let i = 0; i < 100; i++) counted.sumOf(`n${i}`).queries += 1000;
    expect(counted.size).toBeLessThanOrEqual(10);
  });
});
