/**
 * Limits the queries of a client network, and its NXDOMAIN answers, which are typical of random-subdomain attacks. A
 * query over the limit is refused, or its answer is truncated to force TCP, which a forged source cannot use and which
 * has a separate bucket.
 */
import { FlagsHigh, Header } from '../../shared/dns/wire.ts';
import { Rcode } from '../../shared/dns/iana.ts';
import { LimitReason, type LimitReasonCode } from '../../shared/memory/answer-counters.ts';
import { type Query, StageResult, type StageResultCode } from '../query/query.ts';
import { hasProvenAddress, type RateLimiter } from '../policy/rate-limiter.ts';
import { replyWithRcode } from '../respond/reply.ts';

/** Refuses a query over its network's limit; a dry run only logs it. */
export function rateLimitStage(query: Query, limiter: RateLimiter): StageResultCode {
  if (!limiter.settings.enabled || limiter.admitsQuestion(query)) return StageResult.CONTINUE;
  return limit(query, limiter, LimitReason.QUESTIONS);
}

/** Refuses an answer over the network's limit; NXDOMAIN, from an upstream or from Weir, has a stricter limit. */
export function limitNxdomain(query: Query, limiter: RateLimiter): void {
  if (!limiter.settings.enabled || query.rcode !== Rcode.NXDOMAIN) return;
  if (!limiter.admitsNxdomain(query)) limit(query, limiter, LimitReason.NXDOMAIN);
}

/** Describes the limit for an explanation, which counts nothing. */
export function admissionDetail({ settings }: RateLimiter): string {
  const { enabled, queriesPerSecond, burstSize, dryRun } = settings;
  if (!enabled) return 'no rate limit';
  return `rate limit ${queriesPerSecond}/s, burst ${burstSize}${dryRun ? ', dry run' : ''}`;
}

function limit(query: Query, limiter: RateLimiter, reason: LimitReasonCode): StageResultCode {
  query.limitedBy = reason;
  if (limiter.settings.dryRun) return StageResult.CONTINUE;
  query.replyFlags = 0;
  const slips = !hasProvenAddress(query) && limiter.slips();
  replyWithRcode(query, slips ? Rcode.NOERROR : Rcode.REFUSED);
  if (slips) query.bytes[query.at + Header.FLAGS_HIGH]! |= FlagsHigh.TC;
  return StageResult.ANSWERED;
}
