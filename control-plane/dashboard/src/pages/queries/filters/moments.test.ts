import { describe, expect, test } from '@jest/globals';
import { localMoment, utcMoment } from './moments.ts';

describe('utcMoment()', () => {
  test('is reversed by localMoment()', () => {
    for (const local of ['2026-01-31T23:59', '2026-07-01T00:00'])
      expect(localMoment(utcMoment(local))).toBe(local);
  });

  test('is empty for an invalid time', () => {
    expect(utcMoment('')).toBe('');
    expect(localMoment('yesterday')).toBe('');
  });
});
