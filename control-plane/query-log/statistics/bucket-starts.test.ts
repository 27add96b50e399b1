import { describe, expect, test } from '@jest/globals';
import type { Granularity } from '../../../shared/api/stats-api.ts';
import { zoneOffset } from '../../../shared/policy/time-zone.ts';
import { bucketStarts } from './bucket-starts.ts';

/** The starts in UTC. */
function starts(granularity: Granularity, zone: string, from: string, to: string): string[] {
  return bucketStarts(granularity, zoneOffset(zone)!, Date.parse(from), Date.parse(to)).map((ms) =>
    new Date(ms).toISOString().slice(5, 16),
  );
}

describe('bucketStarts()', () => {
  test('begins with the bucket that contains the start of the period, and ends before its end', () => {
    expect(starts('minute', 'UTC', '2026-01-15T12:00:00Z', '2026-01-15T12:03:00Z')).toEqual([
      '01-15T12:00',
      '01-15T12:01',
      '01-15T12:02',
    ]);
    expect(starts('15min', 'UTC', '2026-01-15T12:07:00Z', '2026-01-15T12:31:00Z')).toEqual([
      '01-15T12:00',
      '01-15T12:15',
      '01-15T12:30',
    ]);
    expect(starts('hour', 'UTC', '2026-01-15T12:07:00Z', '2026-01-15T14:00:00Z')).toEqual([
      '01-15T12:00',
      '01-15T13:00',
    ]);
    expect(starts('day', 'UTC', '2026-01-15T00:00:00Z', '2026-01-15T00:01:00Z')).toEqual(['01-15T00:00']);
  });

  test.each([
    [
      'a time zone with an offset of half an hour',
      'Asia/Kolkata',
      '2026-01-15T12:00Z',
      ['01-15T11:30', '01-15T12:30'],
    ],
    [
      'a time zone with an offset of 45 minutes',
      'Asia/Kathmandu',
      '2026-01-15T12:00Z',
      ['01-15T11:15', '01-15T12:15'],
    ],
    [
      'clocks that go back half an hour',
      'Australia/Lord_Howe',
      '2026-04-04T14:30Z',
      ['04-04T14:00', '04-04T15:00'],
    ],
  ])('begins hours by the clock of %s', (_, zone, from, expected) => {
    const toMs = Date.parse(from) + 3_600_000;
    expect(starts('hour', zone, from, new Date(toMs).toISOString())).toEqual(expected);
  });

  test('gives a separate bucket to a half hour that the clock repeats or skips', () => {
    const [back, forward] = [
      starts('hour', 'Australia/Lord_Howe', '2026-04-04T14:00Z', '2026-04-04T17:00Z'),
      starts('hour', 'Australia/Lord_Howe', '2026-10-03T14:30Z', '2026-10-03T17:00Z'),
    ];
    expect(back).toEqual(['04-04T14:00', '04-04T15:00', '04-04T15:30', '04-04T16:30']);
    expect(forward).toEqual(['10-03T14:30', '10-03T15:30', '10-03T16:00']);
  });

  test('returns two buckets for an hour that the clock repeats, and none for an hour that the clock skips', () => {
    const day = (from: string, to: string): number => starts('hour', 'Europe/Vienna', from, to).length;
    expect(day('2026-03-28T23:00Z', '2026-03-29T22:00Z')).toBe(23);
    expect(day('2026-10-24T22:00Z', '2026-10-25T23:00Z')).toBe(25);
  });

  test.each([
    ['a day of 23 hours', 'Europe/Vienna', '2026-03-28T23:00Z', ['03-28T23:00', '03-29T22:00']],
    ['a day of 25 hours', 'Europe/Vienna', '2026-10-24T22:00Z', ['10-24T22:00', '10-25T23:00']],
    ['the last minute of 25 hours', 'Europe/Vienna', '2026-10-25T22:59Z', ['10-24T22:00', '10-25T23:00']],
    ['a day of 23.5 hours', 'Australia/Lord_Howe', '2026-10-03T13:30Z', ['10-03T13:30', '10-04T13:00']],
    ['a midnight that is skipped', 'America/Santiago', '2026-09-06T12:00Z', ['09-06T04:00', '09-07T03:00']],
    ['a midnight after 23:00 twice', 'America/Santiago', '2026-04-05T12:00Z', ['04-05T04:00', '04-06T04:00']],
    ['a midnight that occurs twice', 'America/Havana', '2026-11-01T12:00Z', ['11-01T04:00', '11-02T05:00']],
  ])('begins days by the clock, with %s', (_, zone, from, expected) => {
    const toMs = Date.parse(from) + 86_400_000;
    expect(starts('day', zone, from, new Date(toMs + 7_200_000).toISOString()).slice(0, 2)).toEqual(expected);
  });

  test.each(['UTC', 'Europe/Vienna', 'America/Santiago', 'Australia/Lord_Howe', 'Asia/Gaza', 'Pacific/Apia'])(
    'has no gaps and only increasing times in ten years of %s',
    (zone) => {
      const [fromMs, toMs] = [Date.UTC(2017, 0, 1), Date.UTC(2027, 0, 1)];
      const days = bucketStarts('day', zoneOffset(zone)!, fromMs, toMs);
      const hours = days.slice(1).map((ms, place) => (ms - days[place]!) / 3_600_000);
      expect(Math.min(...hours)).toBeGreaterThanOrEqual(23);
      expect(Math.max(...hours)).toBeLessThanOrEqual(25);
      expect(days[0]).toBeLessThanOrEqual(fromMs);
      expect(days[1]).toBeGreaterThan(fromMs);
    },
  );
});
