/**
 * The limit on the questions of a client network, and on the NXDOMAIN answers that it gets: who asks for
 * random names below somebody's domain gets little else. What is over the limit is refused, or told to come
 * back over TCP, which a forged source address cannot, and where a bucket of its own waits.
 */
import { FlagsHigh, Header } from '../../shared/dns/wire.ts';
import { Rcode } from '../../shared/dns/iana.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { type Query, StageResult, type StageResultCode } from '../query/query.ts';
import { hasProvenAddress, type RateLimiter } from '../policy/rate-limiter.ts';
import { replyWithRcode } from '../respond/reply.ts';

/** Refuses a question that is over its network's limit; in a dry run only the log says so. */
export function rateLimitStage(query: Query, limiter: RateLimiter): StageResultCode {
  if (!limiter.settings.enabled || limiter.admitsQuestion(query)) return StageResult.CONTINUE;
  return limit(query, limiter);
}

/** The same for an answer that lies in the slot: NXDOMAIN of an upstream has a stricter budget. */
export function limitNxdomain(query: Query, limiter: RateLimiter): void {
  if (!limiter.settings.enabled || query.rcode !== Rcode.NXDOMAIN || !isOfUpstream(query.status)) return;
  if (!limiter.admitsNxdomain(query)) limit(query, limiter);
}

function isOfUpstream(status: number): boolean {
  return status === QueryStatus.ALLOWED || status === QueryStatus.CACHED || status === QueryStatus.STALE;
}

function limit(query: Query, limiter: RateLimiter): StageResultCode {
  query.isRateLimited = true;
  if (limiter.settings.dryRun) return StageResult.CONTINUE;
  query.replyFlags = 0;
  const slips = !hasProvenAddress(query) && limiter.slips();
  replyWithRcode(query, slips ? Rcode.NOERROR : Rcode.REFUSED);
  if (slips) query.bytes[query.at + Header.FLAGS_HIGH]! |= FlagsHigh.TC;
  return StageResult.ANSWERED;
}
