/**
 * The start of a period. Counts are stored per minute for two days, and older ones per quarter of an hour. A period
 * starts at a boundary of these slots both in the log and in all statistics, so that all of them count the same
 * queries.
 */

const MINUTE_MS = 60_000;
const QUARTER_MS = 900_000;
/** Milliseconds for which counts per minute are kept. */
export const MINUTES_KEPT_MS = 2 * 86_400_000;

/** Unix milliseconds at which the last `periodMs` start. */
export function periodStartMs(nowMs: number, periodMs: number): number {
  // The limit has a tolerance, because minutes are deleted by the clock of the database.
  const stepMs = periodMs > MINUTES_KEPT_MS - QUARTER_MS ? QUARTER_MS : MINUTE_MS;
  return Math.floor((nowMs - periodMs) / stepMs) * stepMs;
}

/** The last `periodMs`, up to the end of the current minute. */
export function spanOf(nowMs: number, periodMs: number): { fromMs: number; toMs: number } {
  return { fromMs: periodStartMs(nowMs, periodMs), toMs: Math.floor(nowMs / MINUTE_MS + 1) * MINUTE_MS };
}
