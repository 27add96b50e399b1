/**
 * Chooses the three-letter sequences (grams) by which DNS threads find patterns and expressions: for each literal, the
 * gram with the fewest rules. The number of rules per gram is limited, because a hostile name can consist of the grams
 * with the most rules.
 */
import { GRAM, gramAt } from '../../../../shared/snapshot/special-matcher.ts';

/** A literal, with the chosen gram and its position. */
export interface GramPlace {
  readonly gram: number;
  readonly gramOffset: number;
  readonly literal: Buffer;
}

/** Maximum number of rules with the same gram. */
const MAX_RULES_OF_GRAM = 16;
/** Grams that occur in a large share of all names. */
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

/** Assigns rules to grams within the limit. */
export class GramIndex {
  private readonly load = new Map<number, number>();
  private readonly common = new Set(COMMON_GRAMS.map((text) => gramAt(Buffer.from(text), 0)));

  /**
   * For a rule of which each match contains one of these literals: the grams by which the rule is found; null if there
   * are none within the limit.
   */
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

  /** Counts a rule at these grams. */
  take(places: readonly GramPlace[]): void {
    for (const { gram } of places) this.load.set(gram, (this.load.get(gram) ?? 0) + 1);
  }

  /**
   * Position of the best gram in `literal`, which occurs in few names and few rules; -1 = all grams have reached the
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
