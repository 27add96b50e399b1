/**
 * The lists: looks up the qname and each of its parents in the rule table and weighs what the client's
 * group makes of the rules found. Important rules first, then allow before block (contract: decision order).
 */
import { ExtendedError } from '../../shared/dns/iana.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { RuleKind, SUFFIX_KINDS } from '../../shared/snapshot/rule-table.ts';
import { Verdict, type Query, type VerdictCode } from '../query.ts';
import { answerBlocked } from '../respond/block-answer.ts';
import type { OpenSnapshot } from '../state.ts';

const BLOCK = RuleKind.BLOCK_EXACT | RuleKind.BLOCK_SUFFIX;
const ALLOW = RuleKind.ALLOW_EXACT | RuleKind.ALLOW_SUFFIX;

/** Blocks the query, or lets it pass. */
export function policyStage(query: Query, snapshot: OpenSnapshot): VerdictCode {
  const { policy } = snapshot;
  if (!policy.blockingEnabled || !judgeName(query, snapshot)) return Verdict.CONTINUE;
  query.status = QueryStatus.BLOCKED_LIST;
  answerBlocked(query, policy, ExtendedError.BLOCKED);
  return Verdict.ANSWERED;
}

/** Whether lists block the name; leaves the deciding rule in the query. Also for names of an answer. */
export function judgeName(query: Query, snapshot: OpenSnapshot): boolean {
  const { rules, policy } = snapshot;
  const policyClass = policy.groupClass(query.groupIndex);
  let union = 0;
  let attributes = 0;
  let deciding = 0;
  for (let label = query.labelCount - 1; label >= 0; label--) {
    const attribute = rules.find(query.hashLow[label]!, query.hashHigh[label]!);
    if (attribute < 0) continue;
    let kinds = policy.kindsOf(policyClass, attribute);
    if (label !== 0) kinds &= SUFFIX_KINDS;
    if (kinds === 0) continue;
    union |= kinds;
    // The most specific rule that blocks is the one to name.
    if ((kinds & (BLOCK | RuleKind.IMPORTANT_BLOCK_SUFFIX)) !== 0) {
      attributes = attribute + 1;
      deciding = label;
      query.ruleKind = kinds;
    }
  }
  if (union === 0 || !isBlocked(union)) return false;
  query.ruleAttribute = attributes;
  query.ruleNameOffset = query.labelAt[deciding]!;
  return true;
}

function isBlocked(kinds: number): boolean {
  if ((kinds & RuleKind.IMPORTANT_ALLOW_SUFFIX) !== 0) return false;
  if ((kinds & RuleKind.IMPORTANT_BLOCK_SUFFIX) !== 0) return true;
  return (kinds & ALLOW) === 0 && (kinds & BLOCK) !== 0;
}
