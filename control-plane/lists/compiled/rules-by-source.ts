/** Counts the active rules of each list, and how many of them no other list has. Pure. */
import type { SpecialRule } from '../../../shared/snapshot/special-rules.ts';
import { forEachPairLeft } from '../../policy/compile/table/attribute-table.ts';
import { coveredBy } from '../../policy/compile/table/list-overlap.ts';
import { ActiveSources } from '../../policy/snapshot/build/active-sources.ts';
import type { PublishedState } from '../../policy/snapshot/published-state.ts';

/**
 * Number of rules of an active list: names in the rule table, and the distinct texts of patterns and conditional rules.
 */
export interface RuleCounts {
  rules: number;
  /**
   * Number of these rules for which no other active list has the same or a wider rule for the same name, or a rule with
   * the same text.
   */
  unique: number;
}

/** The counts by `list_sources.id`; inactive lists are omitted. */
export function countRulesBySource(
  { compiled, rows }: Pick<PublishedState, 'compiled' | 'rows'>,
  special: readonly SpecialRule[],
): ReadonlyMap<number, RuleCounts> {
  const active = new ActiveSources(compiled, rows);
  const counted = compiled.sources.map((): RuleCounts => ({ rules: 0, unique: 0 }));
  countNames(compiled.attributes, active, counted);
  countSpecialRules(special, active, counted);
  const byId = compiled.sources.map(({ id }, index) => [id, counted[index]!] as const);
  return new Map(byId.filter((_, index) => active.nameOf(index) !== null));
}

/** Names with the same lists and kinds are counted together. */
function countNames(
  attributes: PublishedState['compiled']['attributes'],
  active: ActiveSources,
  counted: readonly RuleCounts[],
): void {
  const disables = (by: number, source: number): boolean => active.disablesForAll(by, source);
  const isOn = counted.map((_, source) => active.nameOf(source) !== null);
  for (let attribute = 0; attribute < attributes.nameCounts.length; attribute++) {
    const names = attributes.nameCounts[attribute]!;
    // Bits that at least one list has, and bits that at least two lists have.
    let once = 0;
    let twice = 0;
    forEachPairLeft(attributes, attribute, disables, (source, kinds) => {
      if (isOn[source] !== true) return;
      const covered = coveredBy(kinds);
      twice |= once & covered;
      once |= covered;
    });
    forEachPairLeft(attributes, attribute, disables, (source, kinds) => {
      if (isOn[source] !== true) return;
      const counts = counted[source]!;
      counts.rules += names;
      if ((coveredBy(kinds) & ~twice) !== 0) counts.unique += names;
    });
  }
}

function countSpecialRules(
  rules: readonly SpecialRule[],
  active: ActiveSources,
  counted: readonly RuleCounts[],
): void {
  const owners = new Map<string, Set<number>>();
  for (const { source, kind, rule, takenBackBy } of rules) {
    if (active.nameOf(source) === null) continue;
    if (takenBackBy?.some((by) => active.disablesForAll(by, source)) === true) continue;
    // The same text may block in one list and allow in another.
    const key = `${kind} ${rule}`;
    const lists = owners.get(key);
    if (lists === undefined) owners.set(key, new Set([source]));
    else lists.add(source);
  }
  for (const lists of owners.values())
    for (const source of lists) {
      counted[source]!.rules++;
      if (lists.size === 1) counted[source]!.unique++;
    }
}
