/**
 * When to fetch a list again: after the configured hours following a success, and after growing pauses following
 * failures. Pure.
 */

const MINUTE_MS = 60_000;
/** Pauses after failures: 1, 2, 4, 8, 16 minutes, then this maximum. */
const LONGEST_RETRY_MS = 30 * MINUTE_MS;

/** The attempts for one list so far. */
export interface Attempts {
  /** Unix milliseconds of the last attempt; undefined if there was none. */
  readonly lastMs: number | undefined;
  /** Failures since the last success. */
  readonly failures: number;
}

/** Intervals of the schedule. */
export interface Pace {
  readonly refreshHours: number;
  /** Milliseconds for which a due list is left to other nodes. */
  readonly graceMs?: number;
}

/**
 * Whether a list is due at `nowMs`. Attempts may be from nodes with different clocks; one in the far future is ignored.
 */
export function isDue(attempts: Attempts, nowMs: number, { refreshHours, graceMs = 0 }: Pace): boolean {
  if (attempts.lastMs === undefined) return true;
  const refreshMs = refreshHours * 60 * MINUTE_MS;
  const retryMs = Math.min(MINUTE_MS * 2 ** Math.min(attempts.failures - 1, 30), LONGEST_RETRY_MS, refreshMs);
  return Math.abs(nowMs - attempts.lastMs) >= (attempts.failures > 0 ? retryMs : refreshMs) + graceMs;
}
