/** Messages without a readable question: most are malformed, but a request for a cookie is valid. */
import { Rcode } from '../../shared/dns/iana.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { ParseOutcome, type ParseOutcomeCode } from '../query/parse-query.ts';
import { type Query, StageResult, type StageResultCode } from '../query/query.ts';
import type { Reporter } from '../report/reporter.ts';
import { replyWithRcode } from '../respond/reply.ts';

/** The result of parsing a message without a question. */
export type UnreadableOutcome = Exclude<ParseOutcomeCode, typeof ParseOutcome.OK>;

/**
 * Drops messages that must not be answered; for all others, resets the parsed fields, because the reply repeats none of
 * them.
 */
export function unreadableStage(
  query: Query,
  outcome: UnreadableOutcome,
  reporter: Reporter,
): StageResultCode {
  if (outcome === ParseOutcome.NO_QUESTION) return StageResult.CONTINUE;
  if (outcome === ParseOutcome.DROP) {
    reporter.count(Counter.DROPPED_SHORT_OR_RESPONSE);
    return StageResult.DROPPED;
  }
  reporter.count(outcome === ParseOutcome.NOT_IMPLEMENTED ? Counter.NOT_IMPLEMENTED : Counter.FORMAT_ERRORS);
  query.hasEdns = false;
  query.questionEnd = 0;
  query.qnameLength = 0;
  query.cookieLength = 0;
  return StageResult.CONTINUE;
}

/** Answers according to the parse result; the reply to a request for a cookie contains a cookie. */
export function answerUnreadable(query: Query, outcome: UnreadableOutcome): StageResultCode {
  const isCookieRequest = outcome === ParseOutcome.NO_QUESTION;
  query.status = isCookieRequest ? QueryStatus.LOCAL : QueryStatus.REFUSED;
  replyWithRcode(query, rcodeOf(outcome));
  return StageResult.ANSWERED;
}

function rcodeOf(outcome: UnreadableOutcome): number {
  if (outcome === ParseOutcome.NO_QUESTION) return Rcode.NOERROR;
  return outcome === ParseOutcome.NOT_IMPLEMENTED ? Rcode.NOTIMP : Rcode.FORMERR;
}
