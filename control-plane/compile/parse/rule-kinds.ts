import { RuleKind } from '../../../shared/snapshot/rule-table.ts';

/** Kinds of rules by the names that they cover: one alone, it and those below it, those below it only. */
export function ruleKinds(allow: boolean): { exact: number; suffix: number; below: number } {
  return allow
    ? { exact: RuleKind.ALLOW_EXACT, suffix: RuleKind.ALLOW_SUFFIX, below: RuleKind.ALLOW_BELOW }
    : { exact: RuleKind.BLOCK_EXACT, suffix: RuleKind.BLOCK_SUFFIX, below: RuleKind.BLOCK_BELOW };
}
