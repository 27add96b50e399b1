import { describe, expect, test } from '@jest/globals';
import { blockedSlots, zoneOf } from './service-times.ts';

describe('blockedSlots()', () => {
  test('returns the week without the allowed times, and combines days with the same times', () => {
    const evening = { start: 1080, end: 1200 };
    const days = [evening, null, evening, null, null, { start: 0, end: 1440 }, { start: 0, end: 600 }];
    expect(blockedSlots({ timeZone: 'UTC', days })).toEqual([
      { days: 0b101, start: 0, end: 1080 },
      { days: 0b101, start: 1200, end: 1440 },
      { days: 0b11010, start: 0, end: 1440 },
      { days: 0b1000000, start: 600, end: 1440 },
    ]);
  });
});

describe('zoneOf()', () => {
  test('returns the time zone of this machine for Local', () => {
    expect([zoneOf(''), zoneOf('Europe/Berlin')]).toMatchObject([
      { timeZone: 'UTC' },
      { timeZone: 'Europe/Berlin' },
    ]);
    expect(zoneOf('Local').remark).toContain(zoneOf('Local').timeZone);
  });
});
