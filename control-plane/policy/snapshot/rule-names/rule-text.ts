/** Builds the text of a list's rule from its kinds and its name, because no table contains the text. */
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';

/** The text of a rule for the name that it matched. */
export function ruleText(kinds: number, name: string): string {
  const [before, after] = ruleAffixes(kinds);
  return before + name + after;
}

/** The text before and after the name; if `kinds` has several bits, for the one with the highest precedence. */
export function ruleAffixes(kinds: number): readonly [before: string, after: string] {
  if ((kinds & RuleKind.IMPORTANT_ALLOW_SUFFIX) !== 0) return ['@@||', '^$important'];
  if ((kinds & RuleKind.IMPORTANT_BLOCK_SUFFIX) !== 0) return ['||', '^$important'];
  if ((kinds & RuleKind.ALLOW_SUFFIX) !== 0) return ['@@||', '^'];
  if ((kinds & RuleKind.ALLOW_EXACT) !== 0) return ['@@|', '^'];
  if ((kinds & RuleKind.ALLOW_BELOW) !== 0) return ['@@||*.', '^'];
  if ((kinds & RuleKind.BLOCK_SUFFIX) !== 0) return ['||', '^'];
  return (kinds & RuleKind.BLOCK_EXACT) !== 0 ? ['', ''] : ['||*.', '^'];
}
