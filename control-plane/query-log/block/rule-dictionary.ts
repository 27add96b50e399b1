/** Distinct deciding rules of a block that is being filled. */
import type { LoggedRule } from '../rows/row.ts';
import type { HeadRule } from './block-layout.ts';

/** Rules in order of arrival. */
export class RuleDictionary {
  readonly head: HeadRule[] = [];
  /** Total length of the rules' texts. */
  textBytes = 0;
  /** Indexes by object, which are faster to find than by text: the same objects occur repeatedly. */
  private readonly byObject = new Map<LoggedRule, number>();
  private readonly byText = new Map<string, number>();

  /** Index of a rule; adds the rule if it is missing. */
  place(rule: LoggedRule): number {
    return this.byObject.get(rule) ?? this.placeByText(rule);
  }

  clear(): void {
    this.head.length = 0;
    this.textBytes = 0;
    this.byObject.clear();
    this.byText.clear();
  }

  private placeByText(rule: LoggedRule): number {
    // PostgreSQL cannot store a NUL or a lone surrogate, and one such text must not make a whole block unstorable.
    const source = rule.source.replaceAll('\0', '').toWellFormed();
    const { before, atName, after, lists } = rule;
    const entry: HeadRule =
      lists.length === 0 ? [source, before, atName, after] : [source, before, atName, after, lists];
    const text = JSON.stringify(entry);
    const known = this.byText.get(text);
    const place = known ?? this.head.push(entry) - 1;
    if (known === undefined) {
      this.byText.set(text, place);
      this.textBytes += text.length;
    }
    this.byObject.set(rule, place);
    return place;
  }
}
