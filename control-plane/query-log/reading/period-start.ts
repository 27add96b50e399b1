/**
 * The start of a period. Counts are stored per minute for two days and per quarter of an hour after that, and a period
 * starts at such a boundary, in the log and in all statistics, so that they count the same queries.
 */

const MINUTE_MS = 60_000;
const QUARTER_MS = 900_000;
/** Time for which counts per minute are kept. */
export const MINUTES_KEPT_MS = 2 * 86_400_000;

/** Unix milliseconds at which the last `periodMs` start. */
export function periodStartMs(nowMs: number, periodMs: number): number {
  // With a tolerance, because the minutes are deleted by the database's clock.
  const stepMs = periodMs > MINUTES_KEPT_MS - QUARTER_MS ? QUARTER_MS : MINUTE_MS;
  return Math.floor((nowMs - periodMs) / stepMs) * stepMs;
}

/** The last `periodMs` until the end of this minute. */
export function spanOf(nowMs: number, periodMs: number): { fromMs: number; toMs: number } {
  return { fromMs: periodStartMs(nowMs, periodMs), toMs: Math.floor(nowMs / MINUTE_MS + 1) * MINUTE_MS };
}
