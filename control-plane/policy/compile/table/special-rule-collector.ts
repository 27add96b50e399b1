/**
 * Collects the special rules of all lists while a table is built, and at the end records which rules and names
 * `$badfilter` rules disable, and in which lists these `$badfilter` rules are. A rule is disabled only for the groups
 * of those lists.
 */
import type { BadFilter, SpecialLine } from '../parse/adblock-rule.ts';
import { invalidLine } from '../parse/foreign-line.ts';
import type { UnusedLine } from '../parse/list-statistics.ts';
import { NO_SPACE, type SpecialSink } from '../parse/rule-output.ts';
import type { RuleTableBuilder } from './rule-table-builder.ts';
import { SpecialRuleSet } from './special-rule-set.ts';
import { encodeSpecialRules } from './special-rules-builder.ts';

/** Maximum number of special rules of all lists together, and total length of their texts. */
const MAX_SPECIAL_RULES = 200_000;
const MAX_TEXT_LENGTH = 67_108_864;

/** Sink for the special rules of one compilation. */
export class SpecialRuleCollector implements SpecialSink {
  private readonly rules = new SpecialRuleSet();
  private readonly badFilters: (BadFilter & { readonly source: number })[] = [];
  private source = 0;
  private count = 0;
  private textLength = 0;

  /** Starts source `index`, to which the next rules belong. */
  beginSource(index: number): void {
    this.source = index;
  }

  special(rule: SpecialLine, line: number): UnusedLine | null {
    if (!this.takeSpace(rule.rule)) return NO_SPACE;
    const refused = this.rules.add({ ...rule, source: this.source, line });
    return refused === null ? null : invalidLine(refused);
  }

  badFilter(badFilter: BadFilter): boolean {
    const hasRoom = this.takeSpace(badFilter.rule);
    if (hasRoom) this.badFilters.push({ ...badFilter, source: this.source });
    return hasRoom;
  }

  private takeSpace({ length }: string): boolean {
    if (this.count >= MAX_SPECIAL_RULES || this.textLength + length > MAX_TEXT_LENGTH) return false;
    this.count++;
    this.textLength += length;
    return true;
  }

  /**
   * Records the disabled rules, and encodes all rules. `adblockSources` are the lists with Adblock-style rules: names
   * in other lists are written differently, so that their text never equals that of a `$badfilter` rule.
   */
  finish(builder: RuleTableBuilder, adblockSources: ReadonlySet<number>): SharedArrayBuffer {
    const takenBackBy = new Map<string, number[]>();
    for (const { rule, name, kind, source } of this.badFilters) {
      if (name !== null) builder.disable(name, kind, source, adblockSources);
      const sources = takenBackBy.get(rule);
      if (sources === undefined) takenBackBy.set(rule, [source]);
      else if (sources.at(-1) !== source) sources.push(source);
    }
    return encodeSpecialRules(this.rules, builder.seeds, (rule) => {
      const by = takenBackBy.get(rule.rule);
      if (by === undefined) return rule;
      // A rule that its own list disables is never active.
      return by.includes(rule.source) ? null : { ...rule, takenBackBy: by };
    });
  }
}
