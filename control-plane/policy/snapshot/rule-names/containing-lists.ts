/** Finds the lists that have a rule for a name, including lists that are not active for the group in question. */
import { nameToText } from '../../../../shared/dns/name.ts';
import type { SourceKind } from '../../../../shared/policy/source-kind.ts';
import { RuleOrigin } from '../../../../shared/snapshot/rule-origin.ts';
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import { readSpecialRule } from '../../../../shared/snapshot/special-rules.ts';
import type { ContainingRule } from '../../../../shared/threads/explanation.ts';
import { forEachPair, forEachPairLeft } from '../../compile/table/attribute-table.ts';
import type { CompiledRules } from '../../compile/table/compiled-rules.ts';
import type { PolicyRows } from '../../change/rows.ts';
import { sourcesServing } from '../build/policy-table-builder.ts';
import { ruleText } from './rule-text.ts';

const BLOCK =
  RuleKind.BLOCK_EXACT | RuleKind.BLOCK_SUFFIX | RuleKind.BLOCK_BELOW | RuleKind.IMPORTANT_BLOCK_SUFFIX;

/**
 * State of a rule for the group: active, or inactive because its list is disabled or only for other groups, or because
 * a `$badfilter` rule cancels it.
 */
export type ContainingState = 'active' | 'other_group' | 'off' | 'lifted';

/** A list with a rule for a name. */
export interface ContainingList {
  readonly sourceId: number;
  readonly source: string;
  readonly kind: SourceKind;
  readonly action: 'block' | 'allow' | 'rewrite';
  /** The name in the rule; empty for patterns. */
  readonly name: string;
  readonly rule: string;
  /** Line in the list, if it is known without a search. */
  readonly line: number | null;
  readonly state: ContainingState;
}

/** Data for interpreting rule numbers. */
export interface ContainingMeaning {
  readonly compiled: Pick<CompiledRules, 'attributes' | 'sources' | 'special'>;
  readonly rows: Pick<PolicyRows, 'groups' | 'sources'>;
}

/** The lists that contain these rules, in the order of the rules. */
export function containingLists(
  { compiled, rows }: ContainingMeaning,
  rules: readonly ContainingRule[],
  groupId: number,
): ContainingList[] {
  const group = rows.groups.find(({ id }) => id === groupId);
  const serves = sourcesServing(group, compiled, rows);
  const byId = new Map(rows.sources.map((row) => [row.id, row]));
  const rowOf = (index: number) => byId.get(compiled.sources[index]?.id ?? -1);
  const stateOf = (index: number, isLeft: boolean): ContainingState => {
    if (serves[index] === true) return isLeft ? 'active' : 'lifted';
    return rowOf(index)?.enabled === false ? 'off' : 'other_group';
  };
  const found: ContainingList[] = [];
  const add = (index: number, list: Omit<ContainingList, 'sourceId' | 'source' | 'kind'>): void => {
    const row = rowOf(index);
    if (row !== undefined) found.push({ sourceId: row.id, source: row.name, kind: row.kind, ...list });
  };
  for (const rule of rules) {
    const name = nameToText(rule.name);
    if (rule.origin === RuleOrigin.SPECIAL) {
      const special = readSpecialRule(compiled.special, rule.index);
      if (special === undefined) continue;
      const isLeft = special.takenBackBy?.some((by) => serves[by] === true) !== true;
      const action = special.rewrite === undefined ? actionOf(special.kind) : 'rewrite';
      const { source, rule: text, line } = special;
      add(source, { action, name: '', rule: text, line, state: stateOf(source, isLeft) });
      continue;
    }
    const left = new Map<number, number>();
    forEachPairLeft(
      compiled.attributes,
      rule.index,
      (by) => serves[by] === true,
      (index, bits) => left.set(index, bits),
    );
    forEachPair(compiled.attributes, rule.index, (index, bits) => {
      for (const kinds of [bits & rule.kinds & BLOCK, bits & rule.kinds & ~BLOCK]) {
        if (kinds === 0) continue;
        const state = stateOf(index, ((left.get(index) ?? 0) & kinds) !== 0);
        add(index, { action: actionOf(kinds), name, rule: ruleText(kinds, name), line: null, state });
      }
    });
  }
  return found;
}

function actionOf(kinds: number): 'block' | 'allow' {
  return (kinds & BLOCK) === 0 ? 'allow' : 'block';
}
