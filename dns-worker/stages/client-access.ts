/**
 * Refuses clients outside the allowed networks (RFC 5358): with REFUSED and extended error 18 (RFC 8914), or without an
 * answer.
 */
import { ExtendedError, Rcode } from '../../shared/dns/iana.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { type Query, StageResult, type StageResultCode } from '../query/query.ts';
import { replyWithRcode } from '../respond/reply.ts';

/** Answers a query of a refused client; sends nothing if `isQuiet`. */
export function accessStage(query: Query, isQuiet: boolean): StageResultCode {
  if (isQuiet) return StageResult.DROPPED;
  query.status = QueryStatus.REFUSED;
  query.extendedError = ExtendedError.PROHIBITED;
  replyWithRcode(query, Rcode.REFUSED);
  return StageResult.ANSWERED;
}

/** Describes the decision, for explanations. */
export function accessDetail({ isAdmitted: mayAskHere }: Query): string {
  return mayAskHere
    ? 'may query this server'
    : 'may not query this server (dns.allowed_clients, dns.blocked_clients)';
}
