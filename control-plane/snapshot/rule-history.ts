/**
 * Remembers for the last versions what their attribute ids stood for, so that a log record, which holds a
 * version and an attribute, can be given the name of its list and the text of its rule.
 */
import { RuleKind } from '../../shared/snapshot/rule-table.ts';
import { forEachPair } from './attribute-table.ts';
import type { CompiledRules, PolicyRows, PublishedState } from './compiled-rules.ts';
import { sourcesServing } from './policy-table-builder.ts';

/** Versions that are remembered; records reach the log within a second. */
const REMEMBERED = 64;

/** The lists that decided a query. */
export interface RuleDescription {
  /** Name of the first list that says so. */
  readonly source: string;
  /** Names of all lists that say so, in the order of their ids. */
  readonly sources: readonly string[];
}

interface Meaning {
  readonly compiled: Pick<CompiledRules, 'attributes' | 'sources'>;
  readonly rows: PolicyRows;
}

/** What attribute ids of recent versions meant. */
export class RuleHistory {
  private readonly versions = new Map<number, Meaning>();

  /** Remembers a version, and forgets the oldest. */
  add({ snapshot, compiled, rows }: PublishedState): void {
    // Not the rules: a table that is no longer in force must not be kept in memory from here.
    const { attributes, sources } = compiled;
    this.versions.set(snapshot.version, { compiled: { attributes, sources }, rows });
    for (const version of this.versions.keys()) {
      if (this.versions.size <= REMEMBERED) break;
      this.versions.delete(version);
    }
  }

  /**
   * Which lists stand behind an attribute, counted from 0 (a log record holds it plus one). `kinds` narrows
   * to lists that say one of these `RuleKind` bits, `groupId` to lists that serve the group. Undefined for
   * versions that are forgotten, and where no list is left.
   */
  describe(
    version: number,
    attribute: number,
    kinds?: number,
    groupId?: number,
  ): RuleDescription | undefined {
    const known = this.versions.get(version);
    if (known === undefined) return undefined;
    const { compiled, rows } = known;
    const group = groupId === undefined ? undefined : (rows.groups.find(({ id }) => id === groupId) ?? null);
    const serves = group === undefined ? null : sourcesServing(group ?? undefined, compiled, rows);
    const names: string[] = [];
    forEachPair(compiled.attributes, attribute, (index, bits) => {
      if (kinds !== undefined && (bits & kinds) === 0) return;
      if (serves !== null && serves[index] !== true) return;
      const id = compiled.sources[index]?.id;
      const name = rows.sources.find((source) => source.id === id)?.name;
      if (name !== undefined) names.push(name);
    });
    return names[0] === undefined ? undefined : { source: names[0], sources: names };
  }
}

/**
 * The text of a rule for the name it stands at (a log record's RULE_NAME_OFFSET says where in the qname).
 * Where `kinds` holds several bits, the one that outranks the others is written.
 */
export function ruleText(kinds: number, name: string): string {
  if ((kinds & RuleKind.IMPORTANT_ALLOW_SUFFIX) !== 0) return `@@||${name}^$important`;
  if ((kinds & RuleKind.IMPORTANT_BLOCK_SUFFIX) !== 0) return `||${name}^$important`;
  if ((kinds & RuleKind.ALLOW_SUFFIX) !== 0) return `@@||${name}^`;
  if ((kinds & RuleKind.ALLOW_EXACT) !== 0) return `@@|${name}^`;
  return (kinds & RuleKind.BLOCK_SUFFIX) !== 0 ? `||${name}^` : name;
}
