/**
 * What the attribute ids of a rule table stand for: each is one distinct set of (source, kinds). Sources
 * are numbered in the order in which they were compiled; which database row that was is kept beside the
 * table (`compiled-rules.ts`). The interner builds the sets while names are added, without a string or an
 * object a name.
 */

/** Bits of a pair that hold `RuleKind` bits; the source's index lies above them. */
const KIND_BITS = 8;
const KIND_MASK = (1 << KIND_BITS) - 1;

/** All attributes of a rule table, flat, so that they cross a MessagePort and a disk as they are. */
export interface AttributeTable {
  /** Attribute `a` has the pairs `offsets[a]` to `offsets[a + 1]`. */
  readonly offsets: Uint32Array;
  /** Source index and `RuleKind` bits of each pair; read with `forEachPair`. */
  readonly pairs: Uint32Array;
  /** Names that carry each attribute. */
  readonly nameCounts: Uint32Array;
}

/** The attributes of a table without names. */
export function emptyAttributes(): AttributeTable {
  return { offsets: new Uint32Array(1), pairs: new Uint32Array(0), nameCounts: new Uint32Array(0) };
}

/** Number of attributes. */
export function attributeCount(table: AttributeTable): number {
  return table.nameCounts.length;
}

/** Calls back for each (source index, `RuleKind` bits) of `attribute`, sources in ascending order. */
export function forEachPair(
  table: AttributeTable,
  attribute: number,
  pair: (source: number, kinds: number) => void,
): void {
  const end = table.offsets[attribute + 1] ?? 0;
  for (let at = table.offsets[attribute] ?? end; at < end; at++) {
    const packed = table.pairs[at]!;
    pair(packed >>> KIND_BITS, packed & KIND_MASK);
  }
}

/**
 * Gives each distinct set of (source, kinds) a number. Sources are worked off one after the other, in
 * ascending order, so a set is a chain: the set before this source, and what this source adds.
 */
export class AttributeInterner {
  /** The set without the last source, or -1. */
  private readonly parents: number[] = [];
  private readonly sources: number[] = [];
  private readonly kinds: number[] = [];
  private readonly nameCounts: number[] = [];
  /** Kinds of all sources of a set together. */
  private readonly unions: number[] = [];
  /** (parent, kinds) to set, for the source at work: only it can make new sets. */
  private transitions = new Map<number, number>();
  private source = -1;

  /** Starts a source; throws a RangeError unless indexes ascend. */
  beginSource(index: number): void {
    if (index <= this.source)
      throw new RangeError(`begin source ${index}: source ${this.source} was begun already`);
    this.source = index;
    this.transitions = new Map();
  }

  /** The set of a name that is new, `kinds` being what the source at work says of it. */
  first(kinds: number): number {
    const attribute = this.intern(-1, kinds);
    this.nameCounts[attribute]!++;
    return attribute;
  }

  /** The set of a name that had `attribute` before, once the source at work says `kinds` too. */
  extend(attribute: number, kinds: number): number {
    const own = this.sources[attribute] === this.source;
    if (own && (this.kinds[attribute]! & kinds) === kinds) return attribute;
    const next = own
      ? this.intern(this.parents[attribute]!, this.kinds[attribute]! | kinds)
      : this.intern(attribute, kinds);
    this.nameCounts[attribute]!--;
    this.nameCounts[next]!++;
    return next;
  }

  /** What all sources of a set say together, `RuleKind` bits. */
  union(attribute: number): number {
    return this.unions[attribute]!;
  }

  /**
   * The set of a name that had `attribute`, once these sources no longer say `kinds`: a set of its own, made
   * after the last source. Sets without any source are possible.
   */
  without(attribute: number, kinds: number, sources: ReadonlySet<number>): number {
    const chain: number[] = [];
    for (let at = attribute; at >= 0; at = this.parents[at]!) chain.unshift(at);
    let next = -1;
    for (const at of chain) {
      const source = this.sources[at]!;
      const left = sources.has(source) ? this.kinds[at]! & ~kinds : this.kinds[at]!;
      if (left === 0) continue;
      next = this.append(next, source, left);
    }
    if (next < 0) next = this.append(-1, this.sources[chain[0]!]!, 0);
    this.nameCounts[attribute]!--;
    this.nameCounts[next]!++;
    return next;
  }

  /**
   * The finished table, without the sets that no name has any more, and the new number of each set
   * (meaningless for dropped ones).
   */
  finish(): { table: AttributeTable; renumber: Uint32Array } {
    const renumber = new Uint32Array(this.sources.length);
    const offsets: number[] = [0];
    const pairs: number[] = [];
    const nameCounts: number[] = [];
    for (let attribute = 0; attribute < this.sources.length; attribute++) {
      if (this.nameCounts[attribute] === 0) continue;
      renumber[attribute] = nameCounts.length;
      nameCounts.push(this.nameCounts[attribute]!);
      const first = pairs.length;
      for (let at = attribute; at >= 0; at = this.parents[at]!)
        pairs.push((this.sources[at]! << KIND_BITS) | this.kinds[at]!);
      reverseTail(pairs, first);
      offsets.push(pairs.length);
    }
    const table = {
      offsets: Uint32Array.from(offsets),
      pairs: Uint32Array.from(pairs),
      nameCounts: Uint32Array.from(nameCounts),
    };
    return { table, renumber };
  }

  private intern(parent: number, kinds: number): number {
    const key = (parent + 1) * (KIND_MASK + 1) + kinds;
    const known = this.transitions.get(key);
    if (known !== undefined) return known;
    const attribute = this.append(parent, this.source, kinds);
    this.transitions.set(key, attribute);
    return attribute;
  }

  private append(parent: number, source: number, kinds: number): number {
    this.parents.push(parent);
    this.sources.push(source);
    this.kinds.push(kinds);
    this.nameCounts.push(0);
    this.unions.push(kinds | (parent < 0 ? 0 : this.unions[parent]!));
    return this.sources.length - 1;
  }
}

function reverseTail(values: number[], from: number): void {
  for (let low = from, high = values.length - 1; low < high; low++, high--) {
    const value = values[low]!;
    values[low] = values[high]!;
    values[high] = value;
  }
}
