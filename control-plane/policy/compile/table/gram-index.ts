/**
 * Chooses the three letters by which threads find patterns and expressions: for each literal those with the fewest
 * rules. The number of rules per three letters is limited, because a hostile name can consist of the letters with the
 * most rules.
 */
import { GRAM, gramAt } from '../../../../shared/snapshot/special-matcher.ts';

/** A literal, and the position of its three letters in it. */
export interface GramPlace {
  readonly gram: number;
  readonly gramOffset: number;
  readonly literal: Buffer;
}

/** Maximum number of rules with the same letters. */
const MAX_RULES_OF_GRAM = 16;
/** Parts that occur in a large share of all names. */
const COMMON_GRAMS: readonly string[] = [
  'www',
  'ww.',
  'w.g',
  '.co',
  'com',
  '.ne',
  'net',
  '.or',
  'org',
  'ing',
  'api',
];

/** Assigns rules to three-letter keys within a limit. */
export class GramIndex {
  private readonly load = new Map<number, number>();
  private readonly common = new Set(COMMON_GRAMS.map((text) => gramAt(Buffer.from(text), 0)));

  /** Positions by which to find a rule with these literals, one of which is in each match; null = none. */
  placeOf(literals: readonly string[] | null): GramPlace[] | null {
    if (literals === null) return null;
    const places: GramPlace[] = [];
    for (const text of literals) {
      const literal = Buffer.from(text, 'latin1');
      const gramOffset = this.rarestGram(literal);
      if (gramOffset < 0) return null;
      places.push({ gram: gramAt(literal, gramOffset), gramOffset, literal });
    }
    return places;
  }

  /** Counts a rule at these positions. */
  take(places: readonly GramPlace[]): void {
    for (const { gram } of places) this.load.set(gram, (this.load.get(gram) ?? 0) + 1);
  }

  /**
   * Position of the best three letters in `literal`, which are in few names and few rules; -1 = all have reached the
   * limit.
   */
  private rarestGram(literal: Buffer): number {
    let best = -1;
    let fewest = Infinity;
    for (let at = 0; at + GRAM <= literal.length; at++) {
      const gram = gramAt(literal, at);
      const count = this.load.get(gram) ?? 0;
      const cost = count + (this.common.has(gram) ? MAX_RULES_OF_GRAM : 0);
      if (count >= MAX_RULES_OF_GRAM || cost >= fewest) continue;
      best = at;
      fewest = cost;
    }
    return best;
  }
}
