/**
 * Where a period starts. Counts are kept by the minute for two days and by the quarter of an hour beyond, and a period
 * starts with one of them, in the log and in all statistics, so that they count the same queries.
 */

const MINUTE_MS = 60_000;
const QUARTER_MS = 900_000;
/** Time for which counts of single minutes are kept. */
export const MINUTES_KEPT_MS = 2 * 86_400_000;

/** Unix milliseconds at which the last `periodMs` start. */
export function periodStartMs(nowMs: number, periodMs: number): number {
  // Some slack, for the minutes are dropped by the database's clock.
  const stepMs = periodMs > MINUTES_KEPT_MS - QUARTER_MS ? QUARTER_MS : MINUTE_MS;
  return Math.floor((nowMs - periodMs) / stepMs) * stepMs;
}

/** The last `periodMs` until the end of this minute. */
export function spanOf(nowMs: number, periodMs: number): { fromMs: number; toMs: number } {
  return { fromMs: periodStartMs(nowMs, periodMs), toMs: Math.floor(nowMs / MINUTE_MS + 1) * MINUTE_MS };
}
