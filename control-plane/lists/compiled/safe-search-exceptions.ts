/**
 * Finds names of search engines for which a list disables safe search, because it allows them and allowed names are not
 * rewritten. Only engines that a group of the list enforces are included.
 */
import { RuleKind, RuleTable } from '../../../shared/snapshot/rule-table.ts';
import { type HashedName, SpecialMatcher } from '../../../shared/snapshot/special-matcher.ts';
import { forEachPairLeft } from '../../policy/compile/table/attribute-table.ts';
import { hashedName } from '../../policy/compile/table/hashed-name.ts';
import type { PolicySource } from '../../policy/change/rows.ts';
import { ENGINES } from '../../policy/snapshot/build/engine-data.ts';
import { ActiveSources } from '../../policy/snapshot/build/active-sources.ts';
import type { PublishedState } from '../../policy/snapshot/published-state.ts';

const INHERITED = RuleKind.ALLOW_SUFFIX | RuleKind.ALLOW_BELOW | RuleKind.IMPORTANT_ALLOW_SUFFIX;
const OWN = RuleKind.ALLOW_EXACT | RuleKind.ALLOW_SUFFIX | RuleKind.IMPORTANT_ALLOW_SUFFIX;

type State = Pick<PublishedState, 'compiled' | 'rows'>;

/** The names by `list_sources.id`, in the order of the engines; lists without such names have no entry. */
export function safeSearchExceptions({ compiled, rows }: State): ReadonlyMap<number, readonly string[]> {
  const found = new Map<number, string[]>();
  if (rows.safeSearch.length === 0) return found;
  const lists = new ExceptionsOfLists({ compiled, rows });
  const enabled = new Map(rows.sources.map((source) => [source.id, source]));
  for (const { id: engine, domains } of ENGINES) {
    if (!rows.safeSearch.some((enforced) => enforced.engine === engine)) continue;
    for (const domain of domains)
      for (const index of lists.allowing(domain)) {
        const source = enabled.get(compiled.sources[index]!.id);
        if (source === undefined || !enforces(source, engine, rows)) continue;
        const names = found.get(source.id);
        if (names === undefined) found.set(source.id, [domain]);
        else names.push(domain);
      }
  }
  return found;
}

function enforces({ groupIds }: PolicySource, engine: string, { safeSearch }: State['rows']): boolean {
  return safeSearch.some(
    (enforced) =>
      enforced.engine === engine && (groupIds.length === 0 || groupIds.includes(enforced.groupId)),
  );
}

/** Finds the active lists that allow a name. */
class ExceptionsOfLists {
  private readonly compiled: State['compiled'];
  private readonly active: ActiveSources;
  private readonly table: RuleTable;
  private readonly special: SpecialMatcher;
  private readonly all: Uint8Array;

  constructor({ compiled, rows }: State) {
    this.compiled = compiled;
    this.active = new ActiveSources(compiled, rows);
    this.table = new RuleTable(compiled.rules);
    this.special = new SpecialMatcher(compiled.special, this.table.seedLow, this.table.seedHigh);
    this.all = new Uint8Array(compiled.sources.length).fill(1);
  }

  /** Source indexes of the lists that allow `domain`, without duplicates. */
  allowing(domain: string): ReadonlySet<number> {
    const indexes = new Set<number>();
    const name = hashedName(domain, { low: this.table.seedLow, high: this.table.seedHigh });
    if (name === null) return indexes;
    this.addTabled(name, indexes);
    this.special.forEachMatch(name, this.all, (rule) => {
      const { kind, source, takenBackBy = [] } = this.special.rule(rule);
      const isDisabled = takenBackBy.some((by) => this.active.disablesForAll(by, source));
      if ((kind & (OWN | INHERITED)) !== 0 && !isDisabled) indexes.add(source);
    });
    return new Set([...indexes].filter((index) => this.active.nameOf(index) !== null));
  }

  private addTabled({ hashLow, hashHigh, labelCount }: HashedName, indexes: Set<number>): void {
    const disables = (by: number, source: number): boolean => this.active.disablesForAll(by, source);
    for (let label = 0; label < labelCount; label++) {
      const attribute = this.table.find(hashLow[label]!, hashHigh[label]!);
      if (attribute < 0) continue;
      const allowing = label === 0 ? OWN : INHERITED;
      forEachPairLeft(this.compiled.attributes, attribute, disables, (index, kinds) => {
        if ((kinds & allowing) !== 0) indexes.add(index);
      });
    }
  }
}
