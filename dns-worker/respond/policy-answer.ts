/**
 * The answer to a question that a rule decides, and what the log will say of it: services are always
 * NXDOMAIN, a rule with an answer of its own gives that, everything else follows `blocking.mode`.
 */
import { ExtendedError, RRType, Rcode } from '../../shared/dns/iana.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import {
  INHERITED_KINDS,
  MANUAL_SUFFIX_KINDS,
  ManualKind,
  OWN_KINDS,
} from '../../shared/snapshot/rule-table.ts';
import type { RewriteAnswer } from '../../shared/snapshot/special-rules.ts';
import type { Query } from '../query.ts';
import type { OpenSnapshot } from '../state.ts';
import { labelOf, originOf, ruleOf } from '../verdict-memo.ts';
import { answerRecord, answerBlocked, answerNegative } from './block-answer.ts';
import { replyWithRcode } from './reply.ts';

const SERVICE = ManualKind.SERVICE_EXACT | ManualKind.SERVICE_SUFFIX;

/** Status of a query whose qname a rule blocks, by `RuleOrigin`. */
const STATUS = [
  QueryStatus.BLOCKED_LIST,
  QueryStatus.BLOCKED_SERVICE,
  QueryStatus.BLOCKED_MANAGED,
  QueryStatus.BLOCKED_REGEX,
  QueryStatus.BLOCKED_LIST,
];

/**
 * Writes the answer that a blocking verdict on `name` demands, and fills in what is logged. `name` is the query
 * itself, or a name or an address of its answer.
 */
export function answerByPolicy(
  query: Query,
  name: Query,
  snapshot: OpenSnapshot,
  policyClass: number,
  verdict: number,
): void {
  const { policy } = snapshot;
  const origin = originOf(verdict);
  const rule = ruleOf(verdict);
  const label = labelOf(verdict);
  query.status = name === query || name.isAddress ? STATUS[origin]! : QueryStatus.BLOCKED_CNAME;
  query.ruleOrigin = origin;
  query.ruleAttribute = rule + 1;
  query.ruleNameOffset = name === query ? name.labelAt[label]! : 0;
  query.ruleKind = kindsOf(snapshot, policyClass, origin, rule, label);
  query.replyFlags = 0;
  if (origin === RuleOrigin.SERVICE) {
    query.extendedError = ExtendedError.BLOCKED;
    answerNegative(query, Rcode.NXDOMAIN, policy.blockingTtlSecs);
    return;
  }
  const rewrite = origin === RuleOrigin.SPECIAL ? snapshot.special.rule(rule).rewrite : undefined;
  if (rewrite === undefined) answerBlocked(query, policy, ExtendedError.BLOCKED);
  else answerRewritten(query, rewrite, policy.blockingTtlSecs);
}

function kindsOf(
  { policy, special }: OpenSnapshot,
  policyClass: number,
  origin: number,
  rule: number,
  label: number,
): number {
  switch (origin) {
    case RuleOrigin.LIST:
      return policy.kindsOf(policyClass, rule) & (label === 0 ? OWN_KINDS : INHERITED_KINDS);
    case RuleOrigin.SERVICE:
      return policy.manualKindsOf(policyClass, rule) & SERVICE;
    case RuleOrigin.MANAGED:
      return policy.manualKindsOf(policyClass, rule) & ~SERVICE & (label === 0 ? 0xff : MANUAL_SUFFIX_KINDS);
    default:
      return origin === RuleOrigin.SPECIAL ? special.rule(rule).kind : 0;
  }
}

function answerRewritten(query: Query, rewrite: RewriteAnswer, ttlSecs: number): void {
  const text =
    query.qtype === RRType.A ? rewrite.ipv4[0] : query.qtype === RRType.AAAA ? rewrite.ipv6[0] : undefined;
  query.extendedError = ExtendedError.FORGED_ANSWER;
  if (rewrite.rcode === Rcode.REFUSED) replyWithRcode(query, Rcode.REFUSED);
  else if (text === undefined) answerNegative(query, rewrite.rcode, ttlSecs);
  else {
    const address = addressFromText(text)!;
    answerRecord(query, query.qtype === RRType.A ? address.subarray(12) : address, ttlSecs);
  }
}
