/**
 * Measures a list before it is added, while it is read: counts its distinct names and rules, and how many of these
 * rules active lists also have. A rule for a name is compared, by hashes, with active rules for the same name and its
 * parents; patterns and rules with conditions are compared by their text.
 */
import { RuleKind, RuleTable } from '../../../../shared/snapshot/rule-table.ts';
import { readSpecialRules } from '../../../../shared/snapshot/special-rules.ts';
import type { BadFilter, SpecialLine } from '../parse/adblock-rule.ts';
import type { UnusedLine } from '../parse/list-statistics.ts';
import type { SpecialSink } from '../parse/rule-output.ts';
import { type AttributeTable, forEachPairLeft } from './attribute-table.ts';
import { RuleTableBuilder } from './rule-table-builder.ts';
import { WatchedNames } from './watched-names.ts';

/** The active rules in the form that is sent to the thread; the buffers are shared, not copied. */
export interface ActiveRules {
  readonly rules: SharedArrayBuffer;
  readonly special: SharedArrayBuffer;
  readonly attributes: AttributeTable;
  /** By source index: 1 = the source is active. */
  readonly isOn: Uint8Array;
  /** A matrix: at index `by` times the number of sources plus `source`, 1 = source `by` disables rules of `source`. */
  readonly disables: Uint8Array;
}

/** Overlap of a list with active lists. */
export interface Overlap {
  readonly names: number;
  readonly rules: number;
  /** Number of these rules that active lists also have. */
  readonly covered: number;
  /** By source index: number of these rules that the source also has. */
  readonly bySource: Uint32Array;
}

/** Maximum size of the table of the measured list in bytes: enough for 12 million names. */
const MAX_BYTES = 0x1000_0000;

const { BLOCK_EXACT, BLOCK_SUFFIX, BLOCK_BELOW, IMPORTANT_BLOCK_SUFFIX } = RuleKind;
const { ALLOW_EXACT, ALLOW_SUFFIX, ALLOW_BELOW, IMPORTANT_ALLOW_SUFFIX } = RuleKind;
const BLOCK_ALL = BLOCK_EXACT | BLOCK_BELOW | BLOCK_SUFFIX;
const ALLOW_ALL = ALLOW_EXACT | ALLOW_BELOW | ALLOW_SUFFIX;

/** Kinds of rules that have no further effect on a name that already has rules of these kinds. */
export function coveredBy(kinds: number): number {
  let covered = kinds;
  if ((kinds & (BLOCK_SUFFIX | IMPORTANT_BLOCK_SUFFIX)) !== 0) covered |= BLOCK_ALL;
  if ((kinds & (ALLOW_SUFFIX | IMPORTANT_ALLOW_SUFFIX)) !== 0) covered |= ALLOW_ALL;
  return covered;
}

/** Kinds of rules that have no further effect on a subdomain of a name that has rules of these kinds. */
export function coveredBelow(kinds: number): number {
  let covered = kinds & (IMPORTANT_BLOCK_SUFFIX | IMPORTANT_ALLOW_SUFFIX);
  if ((kinds & (BLOCK_SUFFIX | BLOCK_BELOW | IMPORTANT_BLOCK_SUFFIX)) !== 0) covered |= BLOCK_ALL;
  if ((kinds & (ALLOW_SUFFIX | ALLOW_BELOW | IMPORTANT_ALLOW_SUFFIX)) !== 0) covered |= ALLOW_ALL;
  return covered;
}

/** Pass the rules of one list to `see`, then read the result. */
export class OverlapCount implements SpecialSink {
  private readonly active: ActiveRules;
  private readonly table: RuleTable;
  private readonly builder: RuleTableBuilder;
  /**
   * Determines which special rules of the list would remain active, because its own `$badfilter` rules may disable
   * some.
   */
  private readonly disabling = new WatchedNames([]);
  /** Active special rules by kind and text, with the sources that have them. */
  private readonly activeSpecial = new Map<string, Set<number>>();
  private readonly seenSpecial = new Set<string>();
  private readonly bySource: Uint32Array;
  /** By source: index of the last rule that the source covers, so that a rule counts only once per source. */
  private readonly lastRule: Float64Array;
  private readonly counts = (by: number, source: number): boolean =>
    this.active.disables[by * this.active.isOn.length + source] === 1;
  private names = 0;
  private rules = 0;
  private covered = 0;

  /** `see` throws a RangeError if the list has more names than fit into `maxBytes`. */
  constructor(active: ActiveRules, maxBytes: number = MAX_BYTES) {
    this.active = active;
    this.table = new RuleTable(active.rules);
    const { seedLow: low, seedHigh: high } = this.table;
    this.builder = new RuleTableBuilder({ low, high }, 0, maxBytes);
    this.builder.beginSource(0);
    const count = active.isOn.length;
    this.bySource = new Uint32Array(count);
    this.lastRule = new Float64Array(count);
    for (const { source, kind, rule, takenBackBy } of readSpecialRules(active.special)) {
      if (active.isOn[source] !== 1) continue;
      if (takenBackBy?.some((by) => this.counts(by, source)) === true) continue;
      const key = `${kind} ${rule}`;
      this.activeSpecial.set(key, (this.activeSpecial.get(key) ?? new Set()).add(source));
    }
  }

  /** Receives a rule, like a `RuleSink`. */
  see(bytes: Uint8Array, start: number, end: number, kind: number): void {
    const labels = this.builder.hash(bytes, start, end);
    const { low, high } = this.builder;
    const own = labels - 1;
    const before = this.builder.add(low[own]!, high[own]!, kind);
    if ((before & kind) !== 0) return;
    if (before === 0) this.names++;
    this.rules++;
    let isCovered = false;
    for (let label = 0; label < labels; label++) {
      const attribute = this.table.find(low[label]!, high[label]!);
      if (attribute >= 0 && this.count(attribute, kind, label === own)) isCovered = true;
    }
    if (isCovered) this.covered++;
  }

  special(rule: SpecialLine, line: number): UnusedLine | null {
    const unused = this.disabling.special(rule, line);
    if (unused !== null) return unused;
    const key = `${rule.kind} ${rule.rule}`;
    if (this.seenSpecial.has(key)) return null;
    this.seenSpecial.add(key);
    this.rules++;
    const sources = this.activeSpecial.get(key);
    if (sources === undefined) return null;
    this.covered++;
    for (const source of sources) this.bySource[source]!++;
    return null;
  }

  badFilter(badFilter: BadFilter): boolean {
    return this.disabling.badFilter(badFilter);
  }

  result(): Overlap {
    const { names, rules, covered, bySource } = this;
    return { names, rules, covered, bySource };
  }

  /**
   * Counts the sources whose rules at `attribute` make a rule of this kind redundant. `isOwn`: the attribute belongs to
   * the name of the rule, not to a parent.
   */
  private count(attribute: number, kind: number, isOwn: boolean): boolean {
    const { isOn, attributes } = this.active;
    let isCovered = false;
    forEachPairLeft(attributes, attribute, this.counts, (source, kinds) => {
      if (isOn[source] !== 1) return;
      if (((isOwn ? coveredBy(kinds) : coveredBelow(kinds)) & kind) === 0) return;
      isCovered = true;
      if (this.lastRule[source] === this.rules) return;
      this.lastRule[source] = this.rules;
      this.bySource[source]!++;
    });
    return isCovered;
  }
}
