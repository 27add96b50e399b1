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

/** Intervals of the schedule. */
export interface Pace {
  readonly refreshHours: number;
  /** Milliseconds for which what is due is left to others. */
  readonly graceMs?: number;
}

/** Whether a list is due at `nowMs`. Attempts may be of nodes whose clocks differ; one of a far future counts for nothing. */
export function isDue(attempts: Attempts, nowMs: number, { refreshHours, graceMs = 0 }: Pace): boolean {
  if (attempts.lastMs === undefined) return true;
  const refreshMs = refreshHours * 60 * MINUTE_MS;
  const retryMs = Math.min(MINUTE_MS * 2 ** Math.min(attempts.failures - 1, 30), LONGEST_RETRY_MS, refreshMs);
  return Math.abs(nowMs - attempts.lastMs) >= (attempts.failures > 0 ? retryMs : refreshMs) + graceMs;
}
