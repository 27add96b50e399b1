/** Policy on the qname: services, managed domains, regex filters and lists (contract: decision order). */
import type { Judge } from '../policy/judge.ts';
import { type Query, Verdict, type VerdictCode } from '../query/query.ts';
import { answerByPolicy } from '../respond/policy-answer.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';
import { ALLOWED_BY_LIST, NOT_BLOCKED, isAllowing } from '../policy/rule-match-memo.ts';

/** Blocks the query, or lets it pass; UNRESOLVED where a rule makes an alias of the name. */
export function policyStage(query: Query, snapshot: OpenSnapshot, judge: Judge): VerdictCode {
  const { policy } = snapshot;
  if (query.isUnfiltered) return Verdict.CONTINUE;
  const policyClass = policy.groupClass(query.groupIndex);
  const verdict = judge.judge(query, query, snapshot, policyClass);
  if (verdict === NOT_BLOCKED) return Verdict.CONTINUE;
  if (!isAllowing(verdict)) return answerByPolicy(query, query, snapshot, policyClass, verdict);
  allow(query, verdict);
  return Verdict.CONTINUE;
}

/** Notes only whether an allow rule lets the qname pass, for the judging of an answer. */
export function noteAllowance(query: Query, snapshot: OpenSnapshot, judge: Judge): void {
  allow(query, judge.judge(query, query, snapshot, snapshot.policy.groupClass(query.groupIndex)));
}

function allow(query: Query, verdict: number): void {
  query.isAllowed = isAllowing(verdict);
  query.isAllowedByList = verdict === ALLOWED_BY_LIST;
}
