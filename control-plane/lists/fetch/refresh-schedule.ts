/** When to fetch a list again: after the configured hours on success, and after growing pauses on failure. Pure. */

const MINUTE_MS = 60_000;
/** Pauses after failures: 1, 2, 4, 8, 16 minutes, then this. */
const LONGEST_RETRY_MS = 30 * MINUTE_MS;

/** The attempts for one list so far. */
export interface Attempts {
  /** Unix milliseconds of the last one; undefined if there has been no fetch. */
  readonly lastMs: number | undefined;
  /** Failures since the last success. */
  readonly failures: number;
}

/** Whether a list is due at `nowMs`. A clock that was set back makes it due, too. */
export function isDue(attempts: Attempts, nowMs: number, refreshHours: number): boolean {
  if (attempts.lastMs === undefined || attempts.lastMs > nowMs) return true;
  const refreshMs = refreshHours * 60 * MINUTE_MS;
  const retryMs = Math.min(MINUTE_MS * 2 ** Math.min(attempts.failures - 1, 30), LONGEST_RETRY_MS, refreshMs);
  return nowMs - attempts.lastMs >= (attempts.failures > 0 ? retryMs : refreshMs);
}
