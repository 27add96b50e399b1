/** Policy on the qname: services, managed domains, regex filters and lists (contract: decision order). */
import type { PolicyMatcher } from '../policy/policy-matcher.ts';
import { type Query, StageResult, type StageResultCode } from '../query/query.ts';
import { isFreed } from '../policy/freed-query.ts';
import {
  answerByPolicy,
  answerByRewrites,
  isOfRecords,
  isRewrittenToItself,
} from '../respond/policy-answer.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';
import { ALLOWED_BY_LIST, NOT_BLOCKED, isAllowing, type RuleMatch } from '../policy/rule-match-memo.ts';

/** Blocks or allows the query; UNRESOLVED if a rule makes the name an alias. */
export function policyStage(query: Query, snapshot: OpenSnapshot, matcher: PolicyMatcher): StageResultCode {
  const { policy } = snapshot;
  if (query.isUnfiltered) return rewriteWhilePaused(query, snapshot, matcher);
  const policyClass = policy.groupClass(query.groupIndex);
  const match = matcher.match(query, query, snapshot, policyClass);
  if (match === NOT_BLOCKED) return StageResult.CONTINUE;
  if (!isAllowing(match)) return answer(query, snapshot, policyClass, match, matcher);
  allow(query, match);
  return StageResult.CONTINUE;
}

/** Rewrites to records and aliases are the user's own data: they stay active while blocking is paused. */
function rewriteWhilePaused(query: Query, snapshot: OpenSnapshot, matcher: PolicyMatcher): StageResultCode {
  const { policy, special } = snapshot;
  if (policy.blockingEnabled || special.ruleCount === 0 || isFreed(query, policy))
    return StageResult.CONTINUE;
  const policyClass = policy.groupClass(query.groupIndex);
  const match = matcher.matchByLists(query, snapshot, policyClass);
  if (match === NOT_BLOCKED || isAllowing(match) || !isOfRecords(snapshot, match))
    return StageResult.CONTINUE;
  return answer(query, snapshot, policyClass, match, matcher);
}

function answer(
  query: Query,
  snapshot: OpenSnapshot,
  policyClass: number,
  match: RuleMatch,
  matcher: PolicyMatcher,
): StageResultCode {
  return isOfRecords(snapshot, match)
    ? answerByRewrites(query, snapshot, policyClass, match, matcher.rewritten.rules)
    : answerByPolicy(query, query, snapshot, policyClass, match);
}

/** Records whether an allow rule matches the qname, for the check of the answer, and decides nothing. */
export function noteAllowance(query: Query, snapshot: OpenSnapshot, matcher: PolicyMatcher): void {
  const match = matcher.match(query, query, snapshot, snapshot.policy.groupClass(query.groupIndex));
  const isBlocking = match !== NOT_BLOCKED && !isAllowing(match);
  allow(query, isBlocking && isRewrittenToItself(query, snapshot, match) ? ALLOWED_BY_LIST : match);
}

function allow(query: Query, match: RuleMatch): void {
  query.isAllowed = isAllowing(match);
  query.isAllowedByList = match === ALLOWED_BY_LIST;
}
