/**
 * Refuses queries that a forwarding server does not support: other classes (except CHAOS from allowed clients),
 * transfers, meta types, unknown EDNS versions.
 */
import { ExtendedError, Rcode, RRClass, RRType } from '../../shared/dns/iana.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { NO_EDE, type Query, StageResult, type StageResultCode } from '../query/query.ts';
import type { ServerIdentity } from '../policy/server-identity.ts';
import { answerRecord } from '../respond/block-answer.ts';
import { replyWithRcode } from '../respond/reply.ts';

/** Refuses queries with an unsupported form, and all queries of other machines while this node has no policy. */
export function questionChecksStage(query: Query, identity: ServerIdentity): StageResultCode {
  // RFC 6891 section 6.1.3: a version that is not implemented is answered with BADVERS.
  if (query.ednsVersion !== 0) return refuse(query, Rcode.BADVERS, NO_EDE);
  if (query.qclass === RRClass.CH) {
    const text = identity.chaosText(query);
    if (text !== null) return answerText(query, text);
  }
  if (identity.holdsBack(query)) return notReady(query);
  if (query.qclass !== RRClass.IN) return refuse(query, Rcode.REFUSED, ExtendedError.NOT_SUPPORTED);
  const { qtype } = query;
  if (qtype === RRType.OPT) return refuse(query, Rcode.FORMERR, NO_EDE);
  if (qtype === RRType.AXFR || qtype === RRType.IXFR)
    return refuse(query, Rcode.REFUSED, ExtendedError.NOT_SUPPORTED);
  if (qtype === RRType.TSIG || qtype === RRType.TKEY) return refuse(query, Rcode.NOTIMP, NO_EDE);
  return StageResult.CONTINUE;
}

/** SERVFAIL makes the client immediately query its next server. */
function notReady(query: Query): StageResultCode {
  query.status = QueryStatus.SERVFAIL;
  query.extendedError = ExtendedError.NOT_READY;
  replyWithRcode(query, Rcode.SERVFAIL);
  return StageResult.ANSWERED;
}

function answerText(query: Query, text: Uint8Array): StageResultCode {
  query.status = QueryStatus.LOCAL;
  answerRecord(query, text, 0);
  return StageResult.ANSWERED;
}

function refuse(query: Query, rcode: number, extendedError: number): StageResultCode {
  query.status = QueryStatus.REFUSED;
  query.extendedError = extendedError;
  replyWithRcode(query, rcode);
  return StageResult.ANSWERED;
}
