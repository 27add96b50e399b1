/**
 * Collects the rules of all lists that are more than a name while a table is built, and at the end takes
 * back what `$badfilter` rules name, in whichever list it stands.
 */
import type { BadFilter, SpecialLine } from '../lists/adblock-rule.ts';
import type { SpecialSink } from '../lists/rule-output.ts';
import type { SpecialRule } from '../../shared/snapshot/special-rules.ts';
import type { RuleTableBuilder } from './rule-table-builder.ts';
import { buildSpecialRules } from './special-rules-builder.ts';

/** Most special rules of all lists together, and characters of their texts. */
const MAX_SPECIAL_RULES = 200_000;
const MAX_TEXT_LENGTH = 67_108_864;

/** Sink of the special rules of one compile. */
export class SpecialRuleCollector implements SpecialSink {
  private readonly rules: SpecialRule[] = [];
  private readonly badFilters: BadFilter[] = [];
  private source = 0;
  private count = 0;
  private textLength = 0;

  /** What is received from now on is said by source `index`. */
  beginSource(index: number): void {
    this.source = index;
  }

  special(rule: SpecialLine, line: number): boolean {
    const hasRoom = this.takeRoom(rule.rule);
    if (hasRoom) this.rules.push({ ...rule, source: this.source, line });
    return hasRoom;
  }

  badFilter(badFilter: BadFilter): boolean {
    const hasRoom = this.takeRoom(badFilter.rule);
    if (hasRoom) this.badFilters.push(badFilter);
    return hasRoom;
  }

  private takeRoom({ length }: string): boolean {
    if (this.count >= MAX_SPECIAL_RULES || this.textLength + length > MAX_TEXT_LENGTH) return false;
    this.count++;
    this.textLength += length;
    return true;
  }

  /**
   * Takes back what is filtered out and encodes the rest. `adblockSources` are the lists with Adblock-style
   * rules: names of other lists are written differently and so never the same text.
   */
  finish(builder: RuleTableBuilder, adblockSources: ReadonlySet<number>): SharedArrayBuffer {
    const texts = new Set(this.badFilters.map(({ rule }) => rule));
    for (const { name, kind } of this.badFilters)
      if (name !== null) builder.removeName(name, kind, adblockSources);
    return buildSpecialRules(
      this.rules.filter(({ rule }) => !texts.has(rule)),
      builder.seeds,
    );
  }
}
