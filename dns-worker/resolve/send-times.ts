/**
 * Times at which a question is sent again, or another server is queried in addition to a silent server. Waits depend on
 * the server's usual latency, and vary from question to question: questions that were lost at the same moment must not
 * be sent again at the same moment. Pure functions.
 */

/** Maximum number of copies of one question to one server address over one transport (RFC 9520 section 3.1). */
export const MAX_COPIES = 3;

/** Limits for the first wait for an answer, in milliseconds, and the wait for a server with unknown latency. */
const MIN_WAIT_MS = 200;
const MAX_WAIT_MS = 400;
const UNKNOWN_WAIT_MS = 300;
/** A wait varies between its minimum and this many times its minimum. */
const SPREAD = 3;

/**
 * Limits for the wait until the next server is also queried, in milliseconds, and the wait if the latency is unknown.
 */
const MIN_HEDGE_MS = 100;
const MAX_HEDGE_MS = 500;
const UNKNOWN_HEDGE_MS = 200;

/**
 * Milliseconds since the start of a question after which it is sent again if the first attempt failed immediately, and
 * share of jitter.
 */
const RETRIES_MS = [300, 900];
const RETRY_JITTER = 0.1;
const MIN_RETRY_MS = 100;

/**
 * Milliseconds until the next copy of a question, given the number sent and the time left; Infinity = the answer would
 * arrive too late. `random` is from 0 to 1.
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

/**
 * Milliseconds until the next server is also queried; zero if the question has already waited for the first servers.
 */
export function hedgeWaitMs(usualMs: number, hasWaited = false): number {
  if (hasWaited) return 0;
  return usualMs === 0 ? UNKNOWN_HEDGE_MS : Math.min(MAX_HEDGE_MS, Math.max(MIN_HEDGE_MS, usualMs));
}

/** Milliseconds until a question is sent again after this many immediate losses at a server; Infinity = never. */
export function retryWaitMs(losses: number, sinceStartMs: number, random: number): number {
  const atMs = RETRIES_MS[losses - 1];
  if (atMs === undefined) return Infinity;
  return Math.max(MIN_RETRY_MS, atMs * (1 + RETRY_JITTER * random) - sinceStartMs);
}
