import { describe, expect, test } from '@jest/globals';
import { zoneOffset } from '../../../../../shared/policy/time-zone.ts';
import { blocksOf, daysBits, daysOf, isOverMidnight, stateAt, zoneClock } from './week.ts';
import type { WeekSlot } from './week.ts';

const slot = (
  days: number,
  start: string,
  end: string,
  action: WeekSlot['action'] = 'block_all',
): WeekSlot => ({
  days,
  start_time: start,
  end_time: end,
  action,
});
const SCHOOL_NIGHTS = 0b0001111;
const SUNDAY = 0b1000000;

describe('daysOf() and daysBits(), which convert weekdays,', () => {
  test('are the inverse of each other for every set of days', () => {
    for (let bits = 1; bits <= 127; bits++) expect(daysBits(daysOf(bits))).toBe(bits);
    expect(daysOf(SUNDAY)).toEqual([6]);
  });
});

describe('blocksOf(), the blocks of a week chart,', () => {
  const blocks = (...slots: WeekSlot[]): unknown[] =>
    blocksOf(slots).map(({ day, start, end, isContinued }) => [day, start, end, isContinued]);

  test('contain one block per day of a slot within one day', () => {
    expect(blocks(slot(0b0000101, '08:00', '12:30'))).toEqual([
      [0, 480, 750, false],
      [2, 480, 750, false],
    ]);
  });

  test('contain two blocks for a slot that spans midnight; those of a Sunday night are on Sunday and Monday', () => {
    expect(blocks(slot(SUNDAY, '21:00', '06:00'))).toEqual([
      [0, 0, 360, true],
      [6, 1260, 1440, false],
    ]);
  });

  test.each(['00:00', '24:00'])('contain no block on the next day if the slot ends at %s', (end) => {
    expect(blocks(slot(1, '22:00', end))).toEqual([[0, 1320, 1440, false]]);
    expect(isOverMidnight({ start_time: '22:00', end_time: end })).toBe(false);
  });

  test('are ordered by day and time', () => {
    expect(blocks(slot(3, '20:00', '21:00'), slot(1, '06:00', '07:00'))).toEqual([
      [0, 360, 420, false],
      [0, 1200, 1260, false],
      [1, 1200, 1260, false],
    ]);
  });
});

describe('stateAt() for a time of the week', () => {
  const night = [slot(SCHOOL_NIGHTS, '21:00', '06:30')];
  const at = (text: string): number => Date.parse(text);

  test('returns the state and its end for a slot that spans midnight', () => {
    const { override, untilMs } = stateAt(night, 'Europe/Vienna', at('2026-11-24T23:30:00+01:00'));
    expect([override, untilMs]).toEqual(['BlockAll', at('2026-11-25T06:30:00+01:00')]);
  });

  test('returns the start of the next slot if no slot is active', () => {
    const { override, untilMs } = stateAt(night, 'Europe/Vienna', at('2026-11-27T12:00:00+01:00'));
    expect([override, untilMs]).toEqual([null, at('2026-11-30T21:00:00+01:00')]);
  });

  test('skips a school night before a day off and returns the start of the next school night', () => {
    const school = [{ ...night[0]!, skips_days_off: true }];
    const off = [{ from: '2026-11-25', to: '2026-11-26' }];
    const { override, untilMs } = stateAt(school, 'Europe/Vienna', at('2026-11-24T23:30:00+01:00'), off);
    expect([override, untilMs]).toEqual([null, at('2026-11-26T21:00:00+01:00')]);
  });

  test('returns no change if there are no slots', () => {
    expect(stateAt([], 'Europe/Vienna', 0)).toEqual({ override: null, untilMs: null });
  });

  test('follows the time zone over a change to daylight saving time', () => {
    const weekend = [slot(0b0100000, '22:00', '07:00')];
    const { untilMs } = stateAt(weekend, 'Europe/Vienna', at('2026-03-28T23:00:00+01:00'));
    expect(untilMs).toBe(at('2026-03-29T07:00:00+02:00'));
  });
});

describe('zoneClock(), the local time of a time zone,', () => {
  test.each(['UTC', 'Europe/Vienna', 'America/St_Johns', 'Australia/Lord_Howe', 'Asia/Kathmandu'])(
    'returns the same local time as the server in %s, every five hours of a year',
    (zone) => {
      const offsetAt = zoneOffset(zone)!;
      const shown = zoneClock(zone);
      const start = Date.UTC(2026, 0, 1);
      for (let hour = 0; hour < 8_760; hour += 5)
        expect(shown(start + hour * 3_600_000)).toBe(offsetAt(start + hour * 3_600_000));
    },
  );

  test('returns UTC for a time zone that the browser does not know', () => {
    expect(zoneClock('Mars/Olympus')(0)).toBe(0);
  });
});
