/** Rule tables built from a few names, for tests that do not compile lists. */
import { unreadableList } from '../../../control-plane/policy/compile/parse/list-statistics.ts';
import type { ListStatistics } from '../../../control-plane/policy/compile/parse/list-statistics.ts';
import type { CompiledRules } from '../../../control-plane/policy/compile/table/compiled-rules.ts';
import { RuleTableBuilder } from '../../../control-plane/policy/compile/table/rule-table-builder.ts';
import { buildSpecialRules } from '../../../control-plane/policy/compile/table/special-rules-builder.ts';

/** A source and its rules, each a name and `RuleKind` bits. */
export interface TestSource {
  readonly id: number;
  readonly names: readonly (readonly [string, number])[];
  /** Marks the source as unreadable. */
  readonly fault?: string;
}

/** Compiles sources with ascending ids. `seed` makes tables of the same names differ. */
export function compiledFrom(sources: readonly TestSource[], seed = 1): CompiledRules {
  const seeds = { low: seed, high: ~seed };
  const builder = new RuleTableBuilder(seeds);
  for (const [index, { names }] of sources.entries()) {
    builder.beginSource(index);
    for (const [name, kinds] of names) builder.addName(Buffer.from(name), 0, name.length, kinds);
  }
  const { rules, attributes } = builder.finish(seed);
  return {
    rules,
    special: buildSpecialRules([], seeds),
    attributes,
    sources: sources.map(({ id, names, fault }) => ({
      id,
      inputKey: `${id}-${names.length}`,
      statistics: fault === undefined ? statistics(names.length) : unreadableList(fault),
    })),
    compiledAtMs: 1_700_000_000_000,
    compileMs: 5,
  };
}

function statistics(rules: number): ListStatistics {
  return { ...unreadableList(''), lines: rules, rules, format: 'domains', fault: null };
}
