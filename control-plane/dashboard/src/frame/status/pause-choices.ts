/** Durations for which blocking can be paused. */

/** Offered durations in seconds. */
export const PAUSES_SECS = [30, 300, 3_600] as const;

/** Hour at which a pause "until tomorrow" ends, so that it lasts for the whole night. */
const MORNING_HOUR = 6;

/** The next morning in the time zone of this browser. */
export function tomorrow(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, MORNING_HOUR);
}

/** Whole seconds from `now` to `end`, at least one. */
export function secsUntil(end: Date, now: Date): number {
  return Math.max(1, Math.round((end.getTime() - now.getTime()) / 1_000));
}

/** Units of a custom duration, in seconds. */
export const UNIT_SECS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;
export type PauseUnit = keyof typeof UNIT_SECS;
export const PAUSE_UNITS = Object.keys(UNIT_SECS) as readonly PauseUnit[];

/** The server accepts at most a year. */
const MAX_SECS = 31_536_000;

/** Seconds of a custom duration; null if it is invalid. */
export function pauseSecs(amount: string, unit: PauseUnit): number | null {
  const number = Number(amount.trim().replace(',', '.'));
  const secs = Math.round(number * UNIT_SECS[unit]);
  return amount.trim() !== '' && secs >= 1 && secs <= MAX_SECS ? secs : null;
}

/** Remaining seconds of a timer that had `timerSecs` left at `atMs`; at least 0. */
export function secsLeft(timerSecs: number, atMs: number, nowMs: number): number {
  return Math.max(0, Math.ceil(timerSecs - (nowMs - atMs) / 1_000));
}
