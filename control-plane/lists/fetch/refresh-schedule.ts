/**
 * Decides when a list is fetched again: after a success, when the configured number of hours has passed; after
 * failures, with increasing pauses. Pure.
 */

const MINUTE_MS = 60_000;
/** Maximum pause after a failure. The pauses are 1, 2, 4, 8 and 16 minutes, then this maximum. */
const LONGEST_RETRY_MS = 30 * MINUTE_MS;

/** Past attempts to fetch a list. */
export interface Attempts {
  /** Unix milliseconds of the last attempt; undefined if there was none. */
  readonly lastMs: number | undefined;
  /** Number of failures since the last success. */
  readonly failures: number;
}

/** Intervals of the schedule. */
export interface Pace {
  readonly refreshHours: number;
  /** Milliseconds for which this node waits for other nodes to fetch a due list. */
  readonly graceMs?: number;
}

/**
 * Whether a list is due at `nowMs`. Attempts may be from nodes with different clocks; an attempt in the far future is
 * ignored.
 */
export function isDue(attempts: Attempts, nowMs: number, { refreshHours, graceMs = 0 }: Pace): boolean {
  if (attempts.lastMs === undefined) return true;
  const refreshMs = refreshHours * 60 * MINUTE_MS;
  const retryMs = Math.min(MINUTE_MS * 2 ** Math.min(attempts.failures - 1, 30), LONGEST_RETRY_MS, refreshMs);
  return Math.abs(nowMs - attempts.lastMs) >= (attempts.failures > 0 ? retryMs : refreshMs) + graceMs;
}
