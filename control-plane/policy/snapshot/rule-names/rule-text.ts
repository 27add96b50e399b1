/** The text of a list's rule, from its kinds and name, because no table contains it. */
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';

/** The text of a rule for the name that it matched. */
export function ruleText(kinds: number, name: string): string {
  const [before, after] = ruleAffixes(kinds);
  return before + name + after;
}

/** The text before and after the name; with several bits in `kinds`, for the highest-ranking one. */
export function ruleAffixes(kinds: number): readonly [before: string, after: string] {
  if ((kinds & RuleKind.IMPORTANT_ALLOW_SUFFIX) !== 0) return ['@@||', '^$important'];
  if ((kinds & RuleKind.IMPORTANT_BLOCK_SUFFIX) !== 0) return ['||', '^$important'];
  if ((kinds & RuleKind.ALLOW_SUFFIX) !== 0) return ['@@||', '^'];
  if ((kinds & RuleKind.ALLOW_EXACT) !== 0) return ['@@|', '^'];
  if ((kinds & RuleKind.ALLOW_BELOW) !== 0) return ['@@||*.', '^'];
  if ((kinds & RuleKind.BLOCK_SUFFIX) !== 0) return ['||', '^'];
  return (kinds & RuleKind.BLOCK_EXACT) !== 0 ? ['', ''] : ['||*.', '^'];
}
