/** The `$dnsrewrite` rules that match a question's name, the exceptions that cancel them, and which rule decides. */
import { Rcode } from '../../shared/dns/iana.ts';
import { RuleKind } from '../../shared/snapshot/rule-table.ts';
import type { SpecialMatcher } from '../../shared/snapshot/special-matcher.ts';
import { isSameRewrite, type RewriteAnswer, type SpecialRule } from '../../shared/snapshot/special-rules.ts';

const ALLOW =
  RuleKind.ALLOW_EXACT | RuleKind.ALLOW_SUFFIX | RuleKind.ALLOW_BELOW | RuleKind.IMPORTANT_ALLOW_SUFFIX;
const IMPORTANT = RuleKind.IMPORTANT_ALLOW_SUFFIX | RuleKind.IMPORTANT_BLOCK_SUFFIX;
const ANY_ANSWER: RewriteAnswer = { rcode: Rcode.NOERROR };

/** The matches of one name; reused for each name. */
export class MatchedRewrites {
  /** Indexes of the rules; after `decide`, those that are not cancelled, in order. */
  readonly rules: number[] = [];
  private readonly lifting: number[] = [];

  begin(): void {
    this.rules.length = 0;
    this.lifting.length = 0;
  }

  add(index: number, kind: number): void {
    if ((kind & ALLOW) === 0) this.rules.push(index);
    else this.lifting.push(index);
  }

  /**
   * The deciding rule: the first alias; without an alias, the first rcode; without an rcode, the first of the records,
   * which are merged. -1 = none.
   */
  decide(special: SpecialMatcher): number {
    const { rules, lifting } = this;
    if (rules.length === 0) return -1;
    rules.sort(byNumber);
    let left = 0;
    let alias = -1;
    let code = -1;
    let record = -1;
    for (const index of rules) {
      const rule = special.rule(index);
      if (lifting.some((lift) => lifts(special.rule(lift), rule))) continue;
      rules[left++] = index;
      const { rcode, host, record: data } = rule.rewrite!;
      if (alias < 0 && host !== undefined) alias = index;
      if (code < 0 && rcode !== Rcode.NOERROR) code = index;
      if (record < 0 && data !== undefined) record = index;
    }
    rules.length = left;
    if (alias >= 0 || code >= 0) return alias >= 0 ? alias : code;
    return record >= 0 ? record : (rules[0] ?? -1);
  }
}

function byNumber(a: number, b: number): number {
  return a - b;
}

/**
 * Whether an exception cancels a rewrite: an exception for the same answer or for any answer; an important rewrite
 * needs an important exception.
 */
function lifts({ kind: liftKind, rewrite: lifted }: SpecialRule, { kind, rewrite }: SpecialRule): boolean {
  if ((kind & IMPORTANT) !== 0 && (liftKind & IMPORTANT) === 0) return false;
  return isSameRewrite(lifted!, ANY_ANSWER) || isSameRewrite(lifted!, rewrite!);
}
