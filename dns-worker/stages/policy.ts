/**
 * The lists: looks up the qname and each of its parents in the rule table and weighs what the client's
 * group makes of the rules found. Important rules first, then allow before block (contract: decision order).
 */
import { ExtendedError } from '../../shared/dns/iana.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { RuleKind, SUFFIX_KINDS } from '../../shared/snapshot/rule-table.ts';
import { type Query, Verdict, type VerdictCode } from '../query.ts';
import { answerBlocked } from '../respond/block-answer.ts';
import type { OpenSnapshot } from '../state.ts';
import { attributeOf, blockedBy, labelOf, NOT_BLOCKED, UNKNOWN, type VerdictMemo } from './verdict-memo.ts';

const BLOCK = RuleKind.BLOCK_EXACT | RuleKind.BLOCK_SUFFIX;
const ALLOW = RuleKind.ALLOW_EXACT | RuleKind.ALLOW_SUFFIX;

/** Blocks the query, or lets it pass. */
export function policyStage(query: Query, snapshot: OpenSnapshot, memo: VerdictMemo): VerdictCode {
  const { policy } = snapshot;
  if (!policy.blockingEnabled) return Verdict.CONTINUE;
  const policyClass = policy.groupClass(query.groupIndex);
  const low = query.hashLow[0]!;
  const high = query.hashHigh[0]!;
  let verdict = memo.recall(low, high, snapshot.version, policyClass);
  if (verdict === UNKNOWN) {
    verdict = judgeName(query, snapshot, policyClass);
    memo.remember(low, high, snapshot.version, policyClass, verdict);
  }
  if (verdict === NOT_BLOCKED) return Verdict.CONTINUE;
  const attribute = attributeOf(verdict);
  const label = labelOf(verdict);
  query.status = QueryStatus.BLOCKED_LIST;
  query.ruleAttribute = attribute + 1;
  query.ruleNameOffset = query.labelAt[label]!;
  query.ruleKind = policy.kindsOf(policyClass, attribute) & (label === 0 ? -1 : SUFFIX_KINDS);
  answerBlocked(query, policy, ExtendedError.BLOCKED);
  return Verdict.ANSWERED;
}

/** The verdict of the lists on a name: NOT_BLOCKED, or the most specific rule that blocks. */
function judgeName(query: Query, snapshot: OpenSnapshot, policyClass: number): number {
  const { rules, policy } = snapshot;
  let union = 0;
  let verdict = NOT_BLOCKED;
  for (let label = query.labelCount - 1; label >= 0; label--) {
    const attribute = rules.find(query.hashLow[label]!, query.hashHigh[label]!);
    if (attribute < 0) continue;
    let kinds = policy.kindsOf(policyClass, attribute);
    if (label !== 0) kinds &= SUFFIX_KINDS;
    union |= kinds;
    if ((kinds & (BLOCK | RuleKind.IMPORTANT_BLOCK_SUFFIX)) !== 0) verdict = blockedBy(attribute, label);
  }
  return isBlocked(union) ? verdict : NOT_BLOCKED;
}

function isBlocked(kinds: number): boolean {
  if ((kinds & RuleKind.IMPORTANT_ALLOW_SUFFIX) !== 0) return false;
  if ((kinds & RuleKind.IMPORTANT_BLOCK_SUFFIX) !== 0) return true;
  return (kinds & ALLOW) === 0 && (kinds & BLOCK) !== 0;
}
