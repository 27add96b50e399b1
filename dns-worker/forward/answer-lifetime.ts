/** Lifetime of an upstream's answer in the cache, and its TTLs. */
import { Rcode } from '../../shared/dns/iana.ts';
import { readU32, writeU32 } from '../../shared/dns/wire.ts';
import type { WorkerSettings } from '../../shared/threads/messages.ts';
import type { CacheableAnswer } from '../resolve/response/response-reader.ts';

/**
 * Limits for the lifetime of a failure, in seconds (RFC 9520 section 3.2: at least 1 s, and longer for repeated
 * failures).
 */
export const MIN_FAILURE_TTL_SECS = 1;
export const MAX_FAILURE_TTL_SECS = 5;

/** An answer without records; it is cached so that a failed question is not immediately sent again. */
export function failedAnswer(rcode: number, ttlSecs: number): CacheableAnswer {
  return {
    rcode,
    authenticated: false,
    answerCount: 0,
    authorityCount: 0,
    body: new Uint8Array(0),
    ttlOffsets: new Uint16Array(0),
    minTtlSecs: ttlSecs,
    negative: true,
    answersLength: 0,
    ecsScope: 0,
  };
}

/**
 * Limits every TTL of an answer to the configured range, in place. Negative records (SOA and proofs) have separate
 * limits: clients cache them for their TTL (RFC 2308 section 5), which is never raised.
 */
export function clampTtls(answer: CacheableAnswer, settings: WorkerSettings['cache']): void {
  const negativeMaxSecs = negativeLimitSecs(settings);
  for (const at of answer.ttlOffsets) {
    const isAnswer = at < answer.answersLength;
    const minSecs = isAnswer ? settings.minTtlSecs : 0;
    const maxSecs = answer.negative && !isAnswer ? negativeMaxSecs : settings.maxTtlSecs;
    const ttlSecs = readU32(answer.body, at);
    const clamped = Math.min(Math.max(ttlSecs, minSecs), maxSecs);
    if (clamped !== ttlSecs) writeU32(answer.body, at, clamped);
  }
}

/** Seconds for which an answer may be cached. */
export function lifetimeSecs(answer: CacheableAnswer, settings: WorkerSettings['cache']): number {
  if (answer.rcode === Rcode.SERVFAIL || answer.rcode === Rcode.REFUSED) return answer.minTtlSecs;
  if (answer.negative) return Math.min(answer.minTtlSecs, negativeLimitSecs(settings));
  return Math.min(Math.max(answer.minTtlSecs, settings.minTtlSecs), settings.maxTtlSecs);
}

function negativeLimitSecs({ negativeMaxTtlSecs, maxTtlSecs }: WorkerSettings['cache']): number {
  return Math.min(negativeMaxTtlSecs, maxTtlSecs);
}
