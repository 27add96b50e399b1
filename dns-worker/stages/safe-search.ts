/**
 * Safe search: for groups that enforce it, names of search engines are answered with the names of their safe mode. The
 * resolve thread resolves the target (`forward/alias-follower.ts`); the answer is cached under the target's name, so
 * that one group's answer is not cached for all groups under the name of the engine.
 *
 * choice: safe search comes after policy, in the contract's order, so a name that an allow rule, a grant or a schedule
 * allows is not rewritten. `blocking.enabled` does not disable safe search.
 */
import { Rcode, RRType } from '../../shared/dns/iana.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { NOT_FOUND } from '../policy/name-table.ts';
import { type Query, StageResult, type StageResultCode } from '../query/query.ts';
import { appendCname, followAlias, NO_SPACE, QNAME_OFFSET } from '../respond/alias.ts';
import { answerNegative, answerRecord } from '../respond/block-answer.ts';
import { finishReply, replyTruncated } from '../respond/reply.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';
import { isFreed } from '../policy/freed-query.ts';

/** TTL of the records created here, in seconds. */
const TTL_SECS = 300;

/** Answers a query for a search engine, or leaves its alias to the resolve thread. */
export function safeSearchStage(query: Query, { safeSearch, policy }: OpenSnapshot): StageResultCode {
  const number = safeSearch.find(query.groupIndex, query.hashLow[0]!, query.hashHigh[0]!);
  if (number === NOT_FOUND || query.isAllowed) return StageResult.CONTINUE;
  if (isFreed(query, policy)) return StageResult.CONTINUE;
  if (!mayReachEngine(query.qtype)) return StageResult.CONTINUE;
  query.status = QueryStatus.SAFE_SEARCH;
  const { cname, ipv4 } = safeSearch.target(number);
  if (cname === null) return answerAddress(query, ipv4);
  // HTTPS and SVCB records contain addresses and keys of the normal engine; the target has no such records.
  if (query.qtype === RRType.HTTPS || query.qtype === RRType.SVCB) return noData(query);
  if (appendCname(query, QNAME_OFFSET, cname, 0, TTL_SECS) === NO_SPACE) {
    replyTruncated(query, Rcode.NOERROR);
    return StageResult.ANSWERED;
  }
  if (query.qtype === RRType.A || query.qtype === RRType.AAAA)
    return followAlias(query, cname, 0, QueryStatus.SAFE_SEARCH);
  finishReply(query, Rcode.NOERROR, query.answersAt + query.answersLength);
  return StageResult.ANSWERED;
}

/**
 * The engine, the mode that the group enforces for the name, and the exception that prevents the rewrite; for
 * explanations.
 */
export function safeSearchDetail(query: Query, { safeSearch, policy }: OpenSnapshot): string | undefined {
  const number = safeSearch.find(query.groupIndex, query.hashLow[0]!, query.hashHigh[0]!);
  if (number === NOT_FOUND) return undefined;
  const engine = safeSearch.describe(number);
  if (isFreed(query, policy)) return `${engine}, not enforced: a grant or the schedule allows everything`;
  if (!query.isAllowed) return engine;
  return `${engine}, not enforced: ${query.isAllowedByList ? "a list's exception" : 'an allow rule'} allows the name`;
}

/**
 * Types that lead a client to a web server; answers of other types, such as TXT and NS, do not help to bypass safe
 * search.
 */
function mayReachEngine(qtype: number): boolean {
  return (
    qtype === RRType.A ||
    qtype === RRType.AAAA ||
    qtype === RRType.HTTPS ||
    qtype === RRType.SVCB ||
    qtype === RRType.CNAME
  );
}

function answerAddress(query: Query, ipv4: Uint8Array | null): StageResultCode {
  if (query.qtype !== RRType.A || ipv4 === null) return noData(query);
  answerRecord(query, ipv4, TTL_SECS);
  return StageResult.ANSWERED;
}

function noData(query: Query): StageResultCode {
  answerNegative(query, Rcode.NOERROR, TTL_SECS);
  return StageResult.ANSWERED;
}
