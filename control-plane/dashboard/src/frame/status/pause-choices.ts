/** Durations for which blocking can be paused. */

/** Seconds of the spans that are offered. */
export const PAUSES_SECS = [30, 300, 3_600] as const;

/** When tomorrow begins, in hours after midnight: a pause until tomorrow lasts for the night. */
const MORNING_HOUR = 6;

/** The next morning by the clock of this browser. */
export function tomorrow(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, MORNING_HOUR);
}

/** Whole seconds from one moment to a later one, at least one. */
export function secsUntil(end: Date, now: Date): number {
  return Math.max(1, Math.round((end.getTime() - now.getTime()) / 1_000));
}

/** Units of a span that is written by hand, with their seconds. */
export const UNIT_SECS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;
export type PauseUnit = keyof typeof UNIT_SECS;
export const PAUSE_UNITS = Object.keys(UNIT_SECS) as readonly PauseUnit[];

/** The server takes a year at most. */
const MAX_SECS = 31_536_000;

/** Seconds of a span that is written by hand; null = not a span that can be used. */
export function pauseSecs(amount: string, unit: PauseUnit): number | null {
  const number = Number(amount.trim().replace(',', '.'));
  const secs = Math.round(number * UNIT_SECS[unit]);
  return amount.trim() !== '' && secs >= 1 && secs <= MAX_SECS ? secs : null;
}

/** Remaining seconds of a timer, from the seconds that were left at an earlier time; at least 0. */
export function secsLeft(timerSecs: number, atMs: number, nowMs: number): number {
  return Math.max(0, Math.ceil(timerSecs - (nowMs - atMs) / 1_000));
}
