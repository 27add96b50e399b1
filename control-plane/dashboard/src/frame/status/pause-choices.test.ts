import { describe, expect, test } from '@jest/globals';
import { pauseSecs, secsLeft, secsUntil, tomorrow } from './pause-choices.ts';

describe('tomorrow(), the end of a pause,', () => {
  test('is 6 a.m. of the next day, even just after midnight and at the end of a year', () => {
    expect(tomorrow(new Date(2026, 10, 28, 22, 30))).toEqual(new Date(2026, 10, 29, 6));
    expect(tomorrow(new Date(2026, 11, 31, 0, 1))).toEqual(new Date(2027, 0, 1, 6));
    expect(secsUntil(new Date(2026, 10, 29, 6), new Date(2026, 10, 28, 23))).toBe(7 * 3_600);
  });
});

describe('pauseSecs(), the seconds of an entered pause,', () => {
  test.each([
    ['90', 'seconds', 90],
    ['1.5', 'hours', 5_400],
    ['0,5', 'minutes', 30],
    ['365', 'days', 31_536_000],
    ['366', 'days', null],
    ['0', 'minutes', null],
    ['-5', 'minutes', null],
    ['', 'minutes', null],
    ['soon', 'minutes', null],
  ] as const)('for %j %s is %j', (amount, unit, secs) => expect(pauseSecs(amount, unit)).toBe(secs));
});

describe('secsLeft() of a pause', () => {
  test('is the remaining time of a pause, and 0 after its end', () => {
    expect([secsLeft(60, 1_000, 1_000), secsLeft(60, 1_000, 11_500), secsLeft(60, 1_000, 99_000)]).toEqual([
      60, 50, 0,
    ]);
  });
});
