import { describe, expect, test } from '@jest/globals';
import { localMoment, localStart, momentAfter, utcMoment } from './moments.ts';

describe('utcMoment(), the UTC time of a local time,', () => {
  test('is the inverse of localMoment()', () => {
    for (const local of ['2026-01-31T23:59', '2026-07-01T00:00'])
      expect(localMoment(utcMoment(local))).toBe(local);
  });

  test('is empty for an invalid time', () => {
    expect(utcMoment('')).toBe('');
    expect(localMoment('yesterday')).toBe('');
  });
});

describe('localStart(), the start of a period in local time,', () => {
  const nowMs = Date.parse('2026-07-01T12:34:56Z');

  test.each([
    ['30m', '2026-07-01T12:04:00.000Z'],
    ['24h', '2026-06-30T12:34:00.000Z'],
    ['7d', '2026-06-24T12:34:00.000Z'],
    ['2w', '2026-06-17T12:34:00.000Z'],
  ])('for %s is the minute in which the period began', (period, start) => {
    expect(utcMoment(localStart(period, nowMs))).toBe(start);
  });

  test.each(['', '24', '24y', 'h', '1.5h', '999999d'])('for "%s" is empty', (period) => {
    expect(localStart(period, nowMs)).toBe('');
  });
});

describe('momentAfter(), the next time for paging,', () => {
  test('is one millisecond later, and undefined for an invalid time', () => {
    expect(momentAfter('2026-07-01T12:34:56.999Z')).toBe('2026-07-01T12:34:57.000Z');
    expect([momentAfter(undefined), momentAfter('yesterday')]).toEqual([undefined, undefined]);
  });
});
