/** Prepares the slots of a schedule for display: blocks per day, the current state, and the end of that state. */
import { layOutWeek, nextFlipAt, overrideAt } from '../../../../../shared/policy/schedule.ts';
import type { ScheduleOverride, ScheduleSlot, ZoneOffset } from '../../../../../shared/policy/schedule.ts';
import { dayRange, minuteOfDay } from '../../../../../shared/policy/time-of-day.ts';

/** A slot as the API returns it. */
export interface WeekSlot {
  /** Days on which the slot starts: bit 0 is Monday, bit 6 is Sunday. */
  readonly days: number;
  readonly start_time: string;
  readonly end_time: string;
  readonly action: 'block_all' | 'allow_all';
  /** Whether the slot is skipped on holidays. */
  readonly skips_days_off?: boolean;
}

/** The part of a slot on one day. */
export interface DayBlock<Slot extends WeekSlot> {
  readonly slot: Slot;
  /** Day of the week; 0 is Monday. */
  readonly day: number;
  /** Minutes since midnight. */
  readonly start: number;
  readonly end: number;
  /** Whether the slot began on the day before. */
  readonly isContinued: boolean;
}

/** State of a schedule at a time; `untilMs` is null if it never changes. */
export interface ScheduleState {
  readonly override: ScheduleOverride;
  readonly untilMs: number | null;
}

const DAY = 1_440;
const EVERY_DAY = 127;

/** Days of a slot; 0 is Monday. */
export function daysOf(days: number): number[] {
  return [0, 1, 2, 3, 4, 5, 6].filter((day) => (days & (1 << day)) !== 0);
}

/** Days as the bits of the API. */
export function daysBits(days: readonly number[]): number {
  return days.reduce((bits, day) => bits | (1 << day), 0) & EVERY_DAY;
}

/** Blocks of a week, by day and start. A slot over midnight makes two blocks for each of its days. */
export function blocksOf<Slot extends WeekSlot>(slots: readonly Slot[]): DayBlock<Slot>[] {
  const blocks = slots.flatMap((slot) => {
    const { start, end } = toRule(slot);
    return daysOf(slot.days).flatMap((day): DayBlock<Slot>[] => {
      if (end > start) return [{ slot, day, start, end, isContinued: false }];
      const evening = { slot, day, start, end: DAY, isContinued: false };
      if (end === 0) return [evening];
      return [evening, { slot, day: (day + 1) % 7, start: 0, end, isContinued: true }];
    });
  });
  return blocks.sort((one, other) => one.day - other.day || one.start - other.start || one.end - other.end);
}

/** The state of a schedule with these slots, at a time and in a time zone. */
export function stateAt(
  slots: readonly WeekSlot[],
  timeZone: string,
  atMs: number,
  daysOff: readonly { readonly from: string; readonly to: string }[] = [],
): ScheduleState {
  const week = layOutWeek(slots.map(toRule), daysOff.map(dayRange));
  const offsetAt = zoneClock(timeZone);
  return { override: overrideAt(week, offsetAt, atMs), untilMs: nextFlipAt(week, offsetAt, atMs) };
}

/** Converts a slot to the form of `shared/policy/schedule.ts`; an invalid time is treated as midnight. */
export function toRule({
  days,
  start_time: start,
  end_time: end,
  action,
  skips_days_off: skipsDaysOff = false,
}: WeekSlot): ScheduleSlot {
  return { days, start: minuteOfDay(start) ?? 0, end: minuteOfDay(end) ?? 0, action, skipsDaysOff };
}

/** Whether a slot ends on the next day. */
export function isOverMidnight(slot: Pick<WeekSlot, 'start_time' | 'end_time'>): boolean {
  const { start, end } = toRule({ ...slot, days: EVERY_DAY, action: 'block_all' });
  return end < start && end > 0;
}

const clocks = new Map<string, ZoneOffset>();

/** UTC offsets of a time zone from the browser's data; UTC if the browser does not know the zone. */
export function zoneClock(timeZone: string): ZoneOffset {
  const known = clocks.get(timeZone);
  if (known !== undefined) return known;
  const clock = makeClock(timeZone);
  clocks.set(timeZone, clock);
  return clock;
}

function makeClock(timeZone: string): ZoneOffset {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    });
  } catch {
    return () => 0;
  }
  return (atMs) => {
    const minuteMs = Math.floor(atMs / 60_000) * 60_000;
    const parts = new Map(format.formatToParts(minuteMs).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
    const shown = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'));
    return (shown - minuteMs) / 60_000;
  };
}
