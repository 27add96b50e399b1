/** How long an answer of an upstream is kept in the cache, and what its TTLs are then. */
import { Rcode } from '../shared/dns/iana.ts';
import { readU32, writeU32 } from '../shared/dns/wire.ts';
import type { WorkerSettings } from '../shared/messages.ts';
import type { CacheableAnswer } from './resolve/response-reader.ts';

/** RFC 9520 section 3.2: a failure is remembered for at least 1 s; Weir keeps it 5 s. */
export const FAILURE_TTL_SECS = 5;

/** An answer without records, kept so that a failure is not asked again at once. */
export function failedAnswer(rcode: number): CacheableAnswer {
  return {
    rcode,
    authenticated: false,
    answerCount: 0,
    authorityCount: 0,
    body: new Uint8Array(0),
    ttlOffsets: new Uint16Array(0),
    minTtlSecs: FAILURE_TTL_SECS,
    negative: true,
    answersLength: 0,
    subnetScope: 0,
  };
}

/** Brings every TTL of an answer within the configured bounds, in place. */
export function clampTtls(answer: CacheableAnswer, minSecs: number, maxSecs: number): void {
  for (const at of answer.ttlOffsets) {
    const ttlSecs = readU32(answer.body, at);
    const clamped = Math.min(Math.max(ttlSecs, minSecs), maxSecs);
    if (clamped !== ttlSecs) writeU32(answer.body, at, clamped);
  }
}

/** Seconds for which an answer may be kept. */
export function lifetimeSecs(answer: CacheableAnswer, settings: WorkerSettings['cache']): number {
  if (answer.rcode === Rcode.SERVFAIL || answer.rcode === Rcode.REFUSED) return FAILURE_TTL_SECS;
  const maxSecs = answer.negative
    ? Math.min(settings.negativeMaxTtlSecs, settings.maxTtlSecs)
    : settings.maxTtlSecs;
  const bounded = Math.min(Math.max(answer.minTtlSecs, answer.negative ? 0 : settings.minTtlSecs), maxSecs);
  return bounded;
}
