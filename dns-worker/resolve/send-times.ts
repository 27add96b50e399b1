/**
 * When a question is sent again, and when another server is asked beside a silent one. Waits follow the server's usual
 * latency, and differ from question to question: questions that were lost together must not come together again. Pure.
 */

/** Copies of one question to one server address over one transport (RFC 9520 section 3.1). */
export const MAX_COPIES = 3;

/** Bounds of the first wait for an answer, milliseconds, and the wait for a server whose latency is unknown. */
const MIN_WAIT_MS = 200;
const MAX_WAIT_MS = 400;
const UNKNOWN_WAIT_MS = 300;
/** A wait is its shortest time up to so many times as long. */
const SPREAD = 3;

/** Bounds of the wait before the next server is asked too, milliseconds, and that for an unknown latency. */
const MIN_HEDGE_MS = 100;
const MAX_HEDGE_MS = 500;
const UNKNOWN_HEDGE_MS = 200;

/** When a question that failed at once is sent again, milliseconds since its start, and the share of jitter. */
const RETRIES_MS = [300, 900];
const RETRY_JITTER = 0.1;
const MIN_RETRY_MS = 100;

/**
 * Milliseconds until the next copy of a question of which so many were sent, with so much time left; Infinity = its
 * answer would come too late. `random` is from 0 to 1.
 */
export function resendWaitMs(copies: number, usualMs: number, leftMs: number, random: number): number {
  if (copies >= MAX_COPIES) return Infinity;
  const firstMs = usualMs === 0 ? UNKNOWN_WAIT_MS : Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, usualMs));
  const shortestMs = firstMs * 2 ** (copies - 1);
  const longestMs = Math.min(SPREAD * shortestMs, leftMs - firstMs);
  if (longestMs <= 0) return Infinity;
  const fromMs = Math.min(shortestMs, longestMs / 2);
  return fromMs + random * (longestMs - fromMs);
}

/** Milliseconds until the next server is asked too; none if the question has waited for the first ones before. */
export function hedgeWaitMs(usualMs: number, hasWaited = false): number {
  if (hasWaited) return 0;
  return usualMs === 0 ? UNKNOWN_HEDGE_MS : Math.min(MAX_HEDGE_MS, Math.max(MIN_HEDGE_MS, usualMs));
}

/** Milliseconds until a question is sent again that a server has lost so many times at once; Infinity = no more. */
export function retryWaitMs(losses: number, sinceStartMs: number, random: number): number {
  const atMs = RETRIES_MS[losses - 1];
  if (atMs === undefined) return Infinity;
  return Math.max(MIN_RETRY_MS, atMs * (1 + RETRY_JITTER * random) - sinceStartMs);
}
