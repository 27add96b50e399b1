/** Form values of a slot: times as text, and the whole day as a separate choice. */
import { timeOfDay } from '../../../../../shared/policy/time-of-day.ts';
import type { MessageKey } from '../../i18n/language.ts';
import { daysBits, daysOf } from '../../ui/policy/week.ts';
import type { WeekSlot } from '../../ui/policy/week.ts';

export interface SlotDraft {
  /** Days of the week; 0 is Monday. */
  readonly days: readonly number[];
  readonly isWholeDay: boolean;
  readonly start: string;
  readonly end: string;
  readonly action: WeekSlot['action'];
  /** Whether the slot is skipped on holidays. */
  readonly skipsDaysOff: boolean;
}

const MIDNIGHT = '00:00';
const DAY_END = '24:00';

/**
 * Form values of a slot. A new slot starts at the given hour; without an hour, it covers the nights before school days.
 */
export function draftOf(
  slot: WeekSlot | null,
  from?: { readonly day: number; readonly minute: number },
): SlotDraft {
  if (slot !== null) {
    const isWholeDay = slot.start_time === MIDNIGHT && slot.end_time === DAY_END;
    return {
      days: daysOf(slot.days),
      isWholeDay,
      start: slot.start_time,
      // A time field cannot contain 24:00, so the end of a day is midnight of the next day.
      end: slot.end_time === DAY_END ? MIDNIGHT : slot.end_time,
      action: slot.action,
      skipsDaysOff: slot.skips_days_off ?? false,
    };
  }
  const base = { isWholeDay: false, action: 'block_all' as const, skipsDaysOff: false };
  if (from === undefined) return { ...base, days: daysOf(0b1001111), start: '21:00', end: '06:30' };
  const end = from.minute + 60;
  return { ...base, days: [from.day], start: timeOfDay(from.minute), end: timeOfDay(end % 1_440) };
}

/** The error in a draft; null if it is valid. */
export function draftFault(draft: SlotDraft): MessageKey | null {
  if (draft.days.length === 0) return 'schedules.fault.days';
  if (draft.isWholeDay) return null;
  if (draft.start === '' || draft.end === '') return 'schedules.fault.times';
  return draft.start === draft.end ? 'schedules.fault.same' : null;
}

/** The slot as an API request. */
export function slotOf({ days, isWholeDay, start, end, action, skipsDaysOff }: SlotDraft): WeekSlot {
  const times = isWholeDay
    ? { start_time: MIDNIGHT, end_time: DAY_END }
    : { start_time: start.slice(0, 5), end_time: end.slice(0, 5) };
  return { days: daysBits(days), ...times, action, skips_days_off: skipsDaysOff };
}

/** The full hour at a position in a day's line; 0 is the start of the day, 1 the end. */
export function hourAt(place: number): number {
  return Math.min(23, Math.max(0, Math.floor(place * 24))) * 60;
}
