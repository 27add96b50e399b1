/**
 * Schedules compared with an independent computation for every minute of three years in ten zones. The computation gets
 * the clocks of a zone from Intl, not from luxon, and tests each slot according to the specification. By default luxon
 * is compared with the clocks of Intl at each hour and at each minute around a clock change; with WEIR_EVERY_MINUTE=1,
 * at every minute, and the next change is also computed at every minute, not only at changes and periodically.
 */
import { describe, expect, test } from '@jest/globals';
import fc from '../../test/support/parts/fast-check.ts';
import { layOutWeek, nextFlipAt, overrideAt } from './schedule.ts';
import type { DayRange, ScheduleOverride, ScheduleSlot, ZoneOffset } from './schedule.ts';
import { dayRange } from './time-of-day.ts';
import { zoneOffset } from './time-zone.ts';

const EVERY_MINUTE = process.env['WEIR_EVERY_MINUTE'] === '1';
const TIMEOUT_MS = EVERY_MINUTE ? 3_600_000 : 60_000;
const MINUTE_MS = 60_000;
/** Three years with a leap day, and with the Friday that Samoa omitted at its change of the date line. */
const FROM_MS = Date.UTC(2010, 6, 1);
const TO_MS = Date.UTC(2013, 6, 1);
/** Half-hour and midnight clock changes, changes for Ramadan, offsets of quarter hours, a change of the date line. */
const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'America/Santiago',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Africa/Cairo',
  'Asia/Tehran',
  'Asia/Kathmandu',
  'Pacific/Apia',
];

/** Minutes between two samples; no zone changes its clocks twice in this time. */
const STEP = 360;

/**
 * The offset of each minute, found with Intl every six hours, and at each minute of the six hours in which it changes.
 */
function offsetsOf(zone: string): Int16Array {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  const at = (ms: number): number => {
    const [month, day, year, hour, minute] = format.format(ms).match(/\d+/g)!.map(Number);
    return (Date.UTC(year!, month! - 1, day, hour, minute) - ms) / MINUTE_MS;
  };
  const offsets = new Int16Array((TO_MS - FROM_MS) / MINUTE_MS);
  let before = at(FROM_MS);
  for (let start = 0; start < offsets.length; start += STEP) {
    const after = at(FROM_MS + (start + STEP) * MINUTE_MS);
    offsets.fill(after, start, start + STEP);
    for (let minute = start; before !== after && at(FROM_MS + minute * MINUTE_MS) === before; minute++)
      offsets[minute] = before;
    before = after;
  }
  return offsets;
}

const offsets = new Map(ZONES.map((zone) => [zone, offsetsOf(zone)]));

/** The state at a local time according to the specification, slot by slot. */
function specified(slots: readonly ScheduleSlot[], day: number, minute: number): ScheduleOverride {
  const yesterday = (day + 6) % 7;
  let allows = false;
  for (const { days, start, end, action } of slots) {
    const isToday = (days & (1 << day)) !== 0;
    const wasYesterday = (days & (1 << yesterday)) !== 0;
    const holds =
      start < end
        ? isToday && minute >= start && minute < end
        : (isToday && minute >= start) || (wasYesterday && minute < end);
    if (!holds) continue;
    if (action === 'block_all') return 'BlockAll';
    allows = true;
  }
  return allows ? 'AllowAll' : null;
}

const slot = fc
  .record({
    days: fc.integer({ min: 1, max: 127 }),
    // Generates night hours, in which clocks change, as often as all other hours.
    start: fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 1439 })),
    end: fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 1440 })),
    action: fc.constantFrom('block_all' as const, 'allow_all' as const),
  })
  .filter(({ start, end }) => start !== end);
const profile = fc.array(slot, { minLength: 1, maxLength: 6 });
const profileOfZone = fc.array(profile, { minLength: ZONES.length, maxLength: ZONES.length });

/** Compares `slots` with the independent computation at every minute in one zone; throws if they differ. */
function compare(slots: readonly ScheduleSlot[], zone: string): void {
  const known = offsets.get(zone)!;
  const luxon = zoneOffset(zone)!;
  // Outside the period, luxon is used, because the search for a change extends beyond the end of the period.
  const offsetAt: ZoneOffset = (atMs) => known[Math.floor((atMs - FROM_MS) / MINUTE_MS)] ?? luxon(atMs);
  const week = layOutWeek(slots);
  /** State of each minute of a local week, according to the specification. */
  const stated = Array.from({ length: 7 * 1440 }, (_, at) =>
    specified(slots, Math.floor(at / 1440), at % 1440),
  );
  let state: ScheduleOverride | undefined;
  let awaitedMs: number | null = null;
  for (let index = 0; index < known.length; index++) {
    const atMs = FROM_MS + index * MINUTE_MS;
    const local = Math.floor(atMs / MINUTE_MS) + known[index]!;
    const wanted = stated[(local + 3 * 1440) % stated.length];
    const found = overrideAt(week, offsetAt, atMs + (index % MINUTE_MS));
    const flipped = wanted !== state;
    if (found !== wanted || (state !== undefined && flipped !== (awaitedMs === atMs)))
      throw new Error(
        `${zone} at ${new Date(atMs).toISOString()}: ${String(found)} instead of ${String(wanted)}; ` +
          `flip awaited at ${String(awaitedMs)} (${JSON.stringify(slots)})`,
      );
    if (flipped || EVERY_MINUTE || index % 997 === 0) {
      const nextMs = nextFlipAt(week, offsetAt, atMs + (index % MINUTE_MS));
      if (state !== undefined && !flipped && nextMs !== awaitedMs)
        throw new Error(`${zone} at ${atMs}: flip at ${String(nextMs)}, ${String(awaitedMs)} before`);
      awaitedMs = nextMs;
    }
    state = wanted;
  }
}

describe('schedules in three years and ten time zones', () => {
  test(
    'zoneOffset() equals the offset of a reference implementation',
    () => {
      for (const [zone, known] of offsets) {
        const luxon = zoneOffset(zone)!;
        const changes = known.findIndex((offset, index) => index > 0 && offset !== known[index - 1]);
        expect([zone, changes >= 0]).toEqual([zone, zone !== 'Asia/Kathmandu']);
        let near = 0;
        let differences = 0;
        for (let index = known.length - 1; index >= 0; index--) {
          if (index > 0 && known[index] !== known[index - 1]) near = 180;
          const isAsked = EVERY_MINUTE || near-- > 0 || index % STEP === 0;
          if (isAsked && luxon(FROM_MS + index * MINUTE_MS) !== known[index]) differences++;
        }
        expect([zone, differences]).toEqual([zone, 0]);
      }
    },
    TIMEOUT_MS,
  );

  test(
    'overrideAt() and nextFlipAt() equal a reference implementation at every minute',
    () => {
      fc.assert(
        fc.property(profileOfZone, (profileOf) => {
          for (const [index, zone] of ZONES.entries()) compare(profileOf[index]!, zone);
        }),
        { numRuns: EVERY_MINUTE ? 2 : 1, endOnFailure: true },
      );
    },
    TIMEOUT_MS,
  );

  test('nextFlipAt() returns null if the schedule never changes', () => {
    const all: ScheduleSlot = { days: 127, start: 0, end: 1440, action: 'allow_all' };
    const halves: ScheduleSlot[] = [
      { days: 127, start: 600, end: 300, action: 'block_all' },
      { days: 127, start: 300, end: 600, action: 'block_all' },
    ];
    const offsetAt = zoneOffset('Europe/Berlin')!;
    for (const slots of [[], [all], halves])
      expect(nextFlipAt(layOutWeek(slots), offsetAt, FROM_MS)).toBeNull();
  });
});

describe('schedules when clocks change', () => {
  /** Changes from a point in time on, as local times in Berlin, with the state after each. */
  const flips = (slots: readonly ScheduleSlot[], from: string, count: number): string[] => {
    const week = layOutWeek(slots);
    const offsetAt = zoneOffset('Europe/Berlin')!;
    let atMs = Date.parse(from);
    return Array.from({ length: count }, () => {
      atMs = nextFlipAt(week, offsetAt, atMs)!;
      return `${new Date(atMs).toISOString().slice(0, 16)} ${String(overrideAt(week, offsetAt, atMs))}`;
    });
  };
  const nightly = (start: number, end: number): ScheduleSlot[] => [
    { days: 127, start, end, action: 'block_all' },
  ];

  test('a slot inside the skipped hour is not active that night', () => {
    expect(flips(nightly(150, 165), '2026-03-28T12:00Z', 2)).toEqual([
      '2026-03-30T00:30 BlockAll',
      '2026-03-30T00:45 null',
    ]);
  });

  test('a slot from 02:30 begins at 03:00 when the hour from 02:00 is skipped', () => {
    expect(flips(nightly(150, 240), '2026-03-28T12:00Z', 2)).toEqual([
      '2026-03-29T01:00 BlockAll',
      '2026-03-29T02:00 null',
    ]);
  });

  test('a slot within the repeated hour is active twice when the clocks go back', () => {
    expect(flips(nightly(150, 165), '2026-10-24T12:00Z', 4)).toEqual([
      '2026-10-25T00:30 BlockAll',
      '2026-10-25T00:45 null',
      '2026-10-25T01:30 BlockAll',
      '2026-10-25T01:45 null',
    ]);
  });

  test('a slot that spans midnight belongs to the weekday on which it starts, even on leap days', () => {
    // 2028-02-28 is a Monday in a leap year.
    const monday: ScheduleSlot[] = [{ days: 1, start: 1320, end: 360, action: 'allow_all' }];
    expect(flips(monday, '2028-02-28T00:00Z', 3)).toEqual([
      '2028-02-28T21:00 AllowAll',
      '2028-02-29T05:00 null',
      '2028-03-06T21:00 AllowAll',
    ]);
  });
});

describe('days off in a schedule', () => {
  const offsetAt = zoneOffset('Europe/Berlin')!;
  const school = { action: 'block_all', skipsDaysOff: true } as const;
  /** Sunday to Thursday, 20:00 to 07:00. */
  const nights: ScheduleSlot = { ...school, days: 0b1001111, start: 1200, end: 420 };
  const afternoons: ScheduleSlot = { ...school, days: 0b0011111, start: 900, end: 1020 };
  const flips = (slots: ScheduleSlot[], off: DayRange[], from: string, count: number): string[] => {
    const week = layOutWeek(slots, off);
    let atMs = Date.parse(from);
    return Array.from({ length: count }, () => {
      atMs = nextFlipAt(week, offsetAt, atMs)!;
      return `${new Date(atMs).toISOString().slice(0, 16)} ${String(overrideAt(week, offsetAt, atMs))}`;
    });
  };

  test('disable the slot in the night before each day off, but not in the night before the next school day', () => {
    // Wednesday and Thursday are off: no night slot before these days, but one before Friday.
    const off = [dayRange({ from: '2026-07-08', to: '2026-07-09' })];
    expect(flips([nights], off, '2026-07-06T12:00Z', 6)).toEqual([
      '2026-07-06T18:00 BlockAll',
      '2026-07-07T05:00 null',
      '2026-07-09T18:00 BlockAll',
      '2026-07-10T05:00 null',
      '2026-07-12T18:00 BlockAll',
      '2026-07-13T05:00 null',
    ]);
  });

  test('disable slots on days off, and on no other days', () => {
    const off = [dayRange({ from: '2026-07-07', to: '2026-07-07' })];
    const bedtime: ScheduleSlot = { days: 127, start: 1320, end: 360, action: 'block_all' };
    expect(flips([afternoons, bedtime], off, '2026-07-06T22:00Z', 4)).toEqual([
      '2026-07-07T04:00 null',
      '2026-07-07T20:00 BlockAll',
      '2026-07-08T04:00 null',
      '2026-07-08T13:00 BlockAll',
    ]);
  });

  test('may last for months, after which the next change is found', () => {
    const off = [dayRange({ from: '2026-06-01', to: '2026-09-13' })];
    expect(flips([nights], off, '2026-06-02T12:00Z', 1)).toEqual(['2026-09-13T18:00 BlockAll']);
  });

  test('match a check of each minute, for random slots and days, in zones whose clocks change', () => {
    const fromMs = Date.UTC(2026, 2, 20);
    const firstDay = fromMs / 86_400_000;
    const range = fc
      .tuple(fc.integer({ min: -2, max: 18 }), fc.integer({ min: 0, max: 4 }))
      .map(([at, length]) => ({
        from: firstDay + at,
        to: firstDay + at + length,
      }));
    const skipping = fc.tuple(slot, fc.boolean()).map(([one, skipsDaysOff]) => ({ ...one, skipsDaysOff }));
    fc.assert(
      fc.property(
        fc.array(skipping, { minLength: 1, maxLength: 4 }),
        fc.array(range, { minLength: 1, maxLength: 3 }),
        fc.constantFrom('Europe/Berlin', 'Asia/Tehran', 'America/New_York'),
        (slots, off, zone) => {
          const clock = zoneOffset(zone)!;
          const week = layOutWeek(slots, off);
          let awaitedMs: number | null | undefined;
          let state: ScheduleOverride | undefined;
          for (let atMs = fromMs; atMs < fromMs + 16 * 86_400_000; atMs += MINUTE_MS) {
            const wanted = specifiedWith(slots, off, Math.floor(atMs / MINUTE_MS) + clock(atMs));
            expect(overrideAt(week, clock, atMs)).toBe(wanted);
            if (wanted !== state || awaitedMs === undefined) {
              if (awaitedMs !== undefined) expect(awaitedMs).toBe(atMs);
              awaitedMs = nextFlipAt(week, clock, atMs);
            } else expect(awaitedMs === null || awaitedMs > atMs).toBe(true);
            state = wanted;
          }
        },
      ),
      { numRuns: 6 },
    );
  });

  /** The state in a local minute since 1970: a slot belongs to the day on which it ends. */
  function specifiedWith(
    slots: readonly ScheduleSlot[],
    off: readonly DayRange[],
    local: number,
  ): ScheduleOverride {
    const day = Math.floor(local / 1440);
    const minute = local - day * 1440;
    const isOff = (one: number): boolean => off.some(({ from, to }) => from <= one && one <= to);
    const today = slots.filter(({ skipsDaysOff }) => skipsDaysOff !== true || !isOff(day));
    const tonight = slots.filter(({ skipsDaysOff }) => skipsDaysOff !== true || !isOff(day + 1));
    const weekday = (day + 3) % 7;
    const found = [
      specified(
        tonight.filter(({ start, end }) => end !== 0 && end < start && minute >= start),
        weekday,
        minute,
      ),
      specified(
        today.filter(({ start, end }) => end === 0 || end > start || minute < end),
        weekday,
        minute,
      ),
    ];
    return found.includes('BlockAll') ? 'BlockAll' : found.includes('AllowAll') ? 'AllowAll' : null;
  }
});
