import { describe, expect, test } from '@jest/globals';
import { seededRandom, shuffle, zipfRanks } from './random.ts';

function draws(count: number, random: () => number): number[] {
  return Array.from({ length: count }, random);
}

describe('random numbers', () => {
  test('seededRandom() returns the same numbers for the same seed, and different numbers for a different seed', () => {
    expect(draws(50, seededRandom(7))).toEqual(draws(50, seededRandom(7)));
    expect(draws(50, seededRandom(7))).not.toEqual(draws(50, seededRandom(8)));
  });

  test('seededRandom() is distributed evenly over [0, 1)', () => {
    const values = draws(20_000, seededRandom(1));
    expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
    expect(values.reduce((sum, value) => sum + value, 0) / values.length).toBeCloseTo(0.5, 1);
  });

  test('shuffle() keeps every item', () => {
    const items = Array.from({ length: 100 }, (_, index) => index);
    const shuffled = [...items];
    shuffle(shuffled, seededRandom(3));
    expect(shuffled).not.toEqual(items);
    expect(shuffled.toSorted((a, b) => a - b)).toEqual(items);
  });

  test('zipfRanks() returns low ranks most often, and only ranks within range', () => {
    const ranks = draws(20_000, zipfRanks(100, 1, 0, seededRandom(5)));
    const times = (rank: number): number => ranks.filter((drawn) => drawn === rank).length;
    expect(Math.min(...ranks)).toBe(0);
    expect(Math.max(...ranks)).toBeLessThanOrEqual(99);
    // The share of the first rank is 1 / H(100) = 0.193; the share of the second rank is half as large.
    expect(times(0) / ranks.length).toBeCloseTo(0.193, 1);
    expect(times(0)).toBeGreaterThan(times(1));
    expect(times(1)).toBeGreaterThan(times(9));
  });
});
