/**
 * Pure decisions about schedules: the override that a profile's slots mean at an instant, and the instant at which that
 * changes next. `time-zone.ts` knows the zones' clocks; the control plane decides when to ask.
 *
 * choice: a slot holds whenever the zone's clocks show its weekday and time, and at no other moment. So a slot inside
 * the hour that the clocks skip does not take place that night, one that reaches into it is cut where they jump, and
 * one inside an hour that they show twice takes place twice.
 */

/** Minutes of a local day and of a local week, whose first minute is Monday 00:00. */
const DAY = 1440;
const WEEK = 7 * DAY;
const MINUTE_MS = 60_000;
const DAY_MS = DAY * MINUTE_MS;
/** 1970-01-01 was a Thursday. */
const EPOCH_WEEK_MINUTE = 3 * DAY;
/**
 * How far ahead a change is searched. Any change recurs weekly, and clock changes can suppress it once, perhaps twice.
 */
const HORIZON_MS = 28 * DAY_MS;

/** What a schedule does to a group; null = nothing. */
export type ScheduleOverride = 'BlockAll' | 'AllowAll' | null;

/** A time slot. */
export interface ScheduleSlot {
  /** Weekdays on which it starts: bit 0 = Monday to bit 6 = Sunday. */
  readonly days: number;
  /** Minute of the day at which it starts, 0..1439, inclusive. */
  readonly start: number;
  /** Minute of the day at which it ends, 0..1440, exclusive; before `start` = on the next day. Never `start`. */
  readonly end: number;
  readonly action: 'block_all' | 'allow_all';
}

/** Minutes that a zone's clocks are ahead of UTC at an instant. */
export type ZoneOffset = (atMs: number) => number;

/** The slots of a profile laid out over the local week. */
export interface ScheduleWeek {
  /** `STATES` index of each minute. */
  readonly minutes: Uint8Array;
  /** Minutes at which the state differs from that of the minute before, ascending. */
  readonly changes: readonly number[];
}

const STATES: readonly ScheduleOverride[] = [null, 'AllowAll', 'BlockAll'];
const ALLOW_ALL = 1;
const BLOCK_ALL = 2;

/** Lays slots out over a week; `block_all` wins over `allow_all`. */
export function layOutWeek(slots: readonly ScheduleSlot[]): ScheduleWeek {
  const minutes = new Uint8Array(WEEK);
  for (const action of ['allow_all', 'block_all'] as const)
    for (const slot of slots) if (slot.action === action) fillSlot(minutes, slot);
  const changes: number[] = [];
  for (let minute = 0; minute < WEEK; minute++)
    if (minutes[minute] !== minutes[(minute + WEEK - 1) % WEEK]) changes.push(minute);
  return { minutes, changes };
}

/** Marks the minutes of a slot over what is there. */
function fillSlot(minutes: Uint8Array, { days, start, end, action }: ScheduleSlot): void {
  const state = action === 'block_all' ? BLOCK_ALL : ALLOW_ALL;
  const length = end > start ? end - start : end + DAY - start;
  for (let day = 0; day < 7; day++) {
    if ((days & (1 << day)) === 0) continue;
    const from = day * DAY + start;
    minutes.fill(state, from, from + length);
    // Sunday's night ends on Monday.
    if (from + length > WEEK) minutes.fill(state, 0, from + length - WEEK);
  }
}

/** The override at an instant. */
export function overrideAt(week: ScheduleWeek, offsetAt: ZoneOffset, atMs: number): ScheduleOverride {
  return STATES[stateAt(week, offsetAt(atMs), atMs)]!;
}

/** The first instant after `atMs`, on a whole minute, at which the override is another; null = never. */
export function nextFlipAt(week: ScheduleWeek, offsetAt: ZoneOffset, atMs: number): number | null {
  if (week.changes.length === 0) return null;
  let fromMs = Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
  const endMs = fromMs + HORIZON_MS;
  let offset = offsetAt(fromMs);
  const state = stateAt(week, offset, fromMs);
  while (fromMs < endMs) {
    const shiftMs = clockChange(offsetAt, offset, fromMs);
    const flipMs = fromMs + minutesToChange(week, weekMinute(offset, fromMs)) * MINUTE_MS;
    if (flipMs < shiftMs) return flipMs;
    fromMs = shiftMs;
    offset = offsetAt(fromMs);
    if (stateAt(week, offset, fromMs) !== state) return fromMs;
  }
  return null;
}

/** The first minute within a day after `fromMs` at which the offset is another, else the end of that day. */
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

function stateAt(week: ScheduleWeek, offset: number, atMs: number): number {
  return week.minutes[weekMinute(offset, atMs)]!;
}

function weekMinute(offset: number, atMs: number): number {
  const minute = (Math.floor(atMs / MINUTE_MS + offset) + EPOCH_WEEK_MINUTE) % WEEK;
  return minute < 0 ? minute + WEEK : minute;
}

/** Minutes from `minute` to the next change after it, 1..WEEK. */
function minutesToChange({ changes }: ScheduleWeek, minute: number): number {
  let low = 0;
  let high = changes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (changes[middle]! > minute) high = middle;
    else low = middle + 1;
  }
  return low < changes.length ? changes[low]! - minute : changes[0]! + WEEK - minute;
}
