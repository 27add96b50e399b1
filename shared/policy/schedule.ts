/**
 * Pure functions that evaluate schedules: the override of a profile's slots at a point in time, and the time of its
 * next change. `time-zone.ts` has the offsets of time zones; the control plane decides when to call these functions.
 *
 * choice: a slot is active whenever the zone's clocks show its weekday and time, and at no other moment. A slot inside
 * the hour that the clocks skip is therefore omitted that night, a slot that overlaps this hour is shortened, and a
 * slot inside an hour that occurs twice takes place twice.
 *
 * On a day off, slots with `skipsDaysOff` are inactive. For this purpose, a slot over midnight belongs to the day on
 * which it ends: it applies on the evening before each school day, including the last evening of a holiday, but not on
 * the evening before its first day.
 */

/** Minutes of a local day and of a local week, whose first minute is Monday 00:00. */
const DAY = 1440;
const WEEK = 7 * DAY;
const MINUTE_MS = 60_000;
const DAY_MS = DAY * MINUTE_MS;
/** Minute of the week at 1970-01-01 00:00, a Thursday. */
const EPOCH_WEEK_MINUTE = 3 * DAY;
/**
 * Milliseconds ahead in which to search for a change. Changes recur weekly, and clock changes can suppress a change
 * once, perhaps twice.
 */
const HORIZON_MS = 28 * DAY_MS;
/** Milliseconds ahead in which to search for the next change if there are days off: it may come after all of them. */
const DAYS_OFF_HORIZON_MS = 400 * DAY_MS;

/** Effect of a schedule on a group; null = none. */
export type ScheduleOverride = 'BlockAll' | 'AllowAll' | null;

/** A time slot. */
export interface ScheduleSlot {
  /** Weekdays on which the slot starts: bit 0 = Monday to bit 6 = Sunday. */
  readonly days: number;
  /** Minute of the day at which the slot starts, 0..1439, inclusive. */
  readonly start: number;
  /**
   * Minute of the day at which the slot ends, 0..1440, exclusive; if it is before `start`, on the next day. Never equal
   * to `start`.
   */
  readonly end: number;
  readonly action: 'block_all' | 'allow_all';
  /** Whether the slot does not apply on days off; absent = it applies. */
  readonly skipsDaysOff?: boolean;
}

/** A range of days off, both days included, as days since 1970-01-01. */
export interface DayRange {
  readonly from: number;
  readonly to: number;
}

/** Minutes by which a zone's clocks are ahead of UTC at a point in time. */
export type ZoneOffset = (atMs: number) => number;

/** Slots laid out over a week. */
interface LaidOutSlots {
  /** `STATES` index of each minute. */
  readonly minutes: Uint8Array;
  /** Minutes at which the state differs from the state of the previous minute, ascending. */
  readonly changes: readonly number[];
}

/** The slots of a profile laid out over the local week. */
export interface ScheduleWeek {
  /**
   * Layouts by index: 1 if today is a day off, plus 2 if tomorrow is; without days off, only the first layout is used.
   */
  readonly layouts: readonly LaidOutSlots[];
  readonly daysOff: readonly DayRange[];
}

const STATES: readonly ScheduleOverride[] = [null, 'AllowAll', 'BlockAll'];
const ALLOW_ALL = 1;
const BLOCK_ALL = 2;
const TODAY_OFF = 1;
const TOMORROW_OFF = 2;

/** Lays slots out over a week; `block_all` wins over `allow_all`. */
export function layOutWeek(slots: readonly ScheduleSlot[], daysOff: readonly DayRange[] = []): ScheduleWeek {
  if (daysOff.length === 0 || !slots.some(({ skipsDaysOff }) => skipsDaysOff === true))
    return { layouts: [layOut(slots, 0)], daysOff: [] };
  return { layouts: [0, 1, 2, 3].map((off) => layOut(slots, off)), daysOff };
}

function layOut(slots: readonly ScheduleSlot[], off: number): LaidOutSlots {
  const minutes = new Uint8Array(WEEK);
  for (const action of ['allow_all', 'block_all'] as const)
    for (const slot of slots) if (slot.action === action) fillSlot(minutes, slot, off);
  const changes: number[] = [];
  for (let minute = 0; minute < WEEK; minute++)
    if (minutes[minute] !== minutes[(minute + WEEK - 1) % WEEK]) changes.push(minute);
  return { minutes, changes };
}

/** Overwrites the minutes of a slot; `off` is the index of the layout, which decides whether the slot is skipped. */
function fillSlot(minutes: Uint8Array, slot: ScheduleSlot, off: number): void {
  const { days, start, end, action, skipsDaysOff = false } = slot;
  const state = action === 'block_all' ? BLOCK_ALL : ALLOW_ALL;
  const isSkippedToday = skipsDaysOff && (off & TODAY_OFF) !== 0;
  const isSkippedTonight = skipsDaysOff && (off & TOMORROW_OFF) !== 0;
  for (let day = 0; day < 7; day++) {
    if ((days & (1 << day)) === 0) continue;
    const midnight = day * DAY;
    if (end > start || end === 0) {
      if (!isSkippedToday) minutes.fill(state, midnight + start, midnight + (end === 0 ? DAY : end));
      continue;
    }
    if (!isSkippedTonight) minutes.fill(state, midnight + start, midnight + DAY);
    // A slot over midnight on Sunday ends on Monday.
    const morning = (midnight + DAY) % WEEK;
    if (!isSkippedToday) minutes.fill(state, morning, morning + end);
  }
}

/** The override at a point in time. */
export function overrideAt(week: ScheduleWeek, offsetAt: ZoneOffset, atMs: number): ScheduleOverride {
  return STATES[stateAt(week, offsetAt(atMs), atMs)]!;
}

/** The first whole minute after `atMs` at which the override changes; null = never. */
export function nextFlipAt(week: ScheduleWeek, offsetAt: ZoneOffset, atMs: number): number | null {
  if (week.layouts.every(({ changes }) => changes.length === 0)) return null;
  const hasDaysOff = week.daysOff.length > 0;
  let fromMs = Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
  const endMs = fromMs + (hasDaysOff ? DAYS_OFF_HORIZON_MS : HORIZON_MS);
  let offset = offsetAt(fromMs);
  const state = stateAt(week, offset, fromMs);
  while (fromMs < endMs) {
    const shiftMs = clockChange(offsetAt, offset, fromMs);
    // Another layout may apply from midnight on.
    const stopMs = hasDaysOff ? Math.min(shiftMs, midnightAfter(offset, fromMs)) : shiftMs;
    const layout = layoutAt(week, offset, fromMs);
    const flipMs = fromMs + minutesToChange(layout, weekMinute(offset, fromMs)) * MINUTE_MS;
    if (flipMs < stopMs) return flipMs;
    fromMs = stopMs;
    offset = offsetAt(fromMs);
    if (stateAt(week, offset, fromMs) !== state) return fromMs;
  }
  return null;
}

/** The first minute within a day after `fromMs` at which the offset changes, or the end of that day. */
function clockChange(offsetAt: ZoneOffset, offset: number, fromMs: number): number {
  let same = fromMs;
  let other = fromMs + DAY_MS;
  if (offsetAt(other) === offset) return other;
  while (other - same > MINUTE_MS) {
    const middle = same + Math.floor((other - same) / 2 / MINUTE_MS) * MINUTE_MS;
    if (offsetAt(middle) === offset) same = middle;
    else other = middle;
  }
  return other;
}

function layoutAt({ layouts, daysOff }: ScheduleWeek, offset: number, atMs: number): LaidOutSlots {
  if (daysOff.length === 0) return layouts[0]!;
  const today = dayAt(offset, atMs);
  const off = (isIn(daysOff, today) ? TODAY_OFF : 0) + (isIn(daysOff, today + 1) ? TOMORROW_OFF : 0);
  return layouts[off]!;
}

function isIn(ranges: readonly DayRange[], day: number): boolean {
  return ranges.some(({ from, to }) => from <= day && day <= to);
}

/** The day that the clocks show, as days since 1970-01-01. */
function dayAt(offset: number, atMs: number): number {
  return Math.floor((atMs + offset * MINUTE_MS) / DAY_MS);
}

function midnightAfter(offset: number, atMs: number): number {
  return (dayAt(offset, atMs) + 1) * DAY_MS - offset * MINUTE_MS;
}

function stateAt(week: ScheduleWeek, offset: number, atMs: number): number {
  return layoutAt(week, offset, atMs).minutes[weekMinute(offset, atMs)]!;
}

function weekMinute(offset: number, atMs: number): number {
  const minute = (Math.floor(atMs / MINUTE_MS + offset) + EPOCH_WEEK_MINUTE) % WEEK;
  return minute < 0 ? minute + WEEK : minute;
}

/** Minutes from `minute` to the next change after it, 1..WEEK; Infinity if there is none. */
function minutesToChange({ changes }: LaidOutSlots, minute: number): number {
  if (changes.length === 0) return Infinity;
  let low = 0;
  let high = changes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (changes[middle]! > minute) high = middle;
    else low = middle + 1;
  }
  return low < changes.length ? changes[low]! - minute : changes[0]! + WEEK - minute;
}
