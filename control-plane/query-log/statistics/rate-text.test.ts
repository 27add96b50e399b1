import { describe, expect, test } from '@jest/globals';
import { shortNumber } from './rate-text.ts';

describe('shortNumber()', () => {
  test.each([
    [0, '0'],
    [7, '7'],
    [999, '999'],
    [1000, '1k'],
    [1499, '1.5k'],
    [9949, '9.9k'],
    [9950, '10k'],
    [12_345, '12k'],
    [999_499, '999k'],
    [999_500, '1M'],
    [3_400_000, '3.4M'],
    [7_000_000_000, '7G'],
    [5_000_000_000_000, '5000G'],
  ])('of %d is %s', (count, text) => expect(shortNumber(count)).toBe(text));
});
