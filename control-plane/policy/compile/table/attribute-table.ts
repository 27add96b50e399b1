/**
 * The attributes of a rule table: each attribute id represents one distinct set of (source, kinds), and each name has
 * one attribute. A source is an index in the order in which sources were compiled; `compiled-rules.ts` has their
 * database rows. The interner builds the sets while names are added, without allocating a string or an object per name.
 */

/** Number of low bits of a pair that contain `RuleKind` bits; the higher bits are the index of the source. */
const KIND_BITS = 8;
const KIND_MASK = (1 << KIND_BITS) - 1;
/** Marks a pair that does not add rules: its source disables these kinds of the preceding pair (`$badfilter`). */
const DISABLES = 0x8000_0000;
const SOURCE_MASK = 0x7f_ffff;

/**
 * All attributes of a rule table in flat arrays, so that they can be sent over a MessagePort and stored on disk without
 * conversion.
 */
export interface AttributeTable {
  /** Attribute `a` has the pairs `offsets[a]` to `offsets[a + 1]`. */
  readonly offsets: Uint32Array;
  /** Source index and `RuleKind` bits of each pair; read with `forEachPair`. */
  readonly pairs: Uint32Array;
  /** Number of names with each attribute. */
  readonly nameCounts: Uint32Array;
}

/** The attributes of a table without names. */
export function emptyAttributes(): AttributeTable {
  return { offsets: new Uint32Array(1), pairs: new Uint32Array(0), nameCounts: new Uint32Array(0) };
}

/** A pair of `AttributeTable.pairs`. */
export function packPair(source: number, kinds: number): number {
  return ((source << KIND_BITS) | kinds) >>> 0;
}

/** Source index and kinds of a pair; null if the pair means that another source disables kinds of the previous pair. */
export function unpackPair(packed: number): { readonly source: number; readonly kinds: number } | null {
  return packed < DISABLES ? { source: packed >>> KIND_BITS, kinds: packed & KIND_MASK } : null;
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
    if (packed < DISABLES) pair(packed >>> KIND_BITS, packed & KIND_MASK);
  }
}

/** Whether a source disables rules of another one in `attribute`. */
export function hasDisabledRules(table: AttributeTable, attribute: number): boolean {
  const end = table.offsets[attribute + 1] ?? 0;
  for (let at = table.offsets[attribute] ?? end; at < end; at++)
    if (table.pairs[at]! >= DISABLES) return true;
  return false;
}

/**
 * Like `forEachPair`, without rules that `$badfilter` rules of other sources disable. `counts(by, source)` returns
 * whether the `$badfilter` rules of source `by` apply to rules of `source`.
 */
export function forEachPairLeft(
  table: AttributeTable,
  attribute: number,
  counts: (by: number, source: number) => boolean,
  pair: (source: number, kinds: number) => void,
): void {
  const end = table.offsets[attribute + 1] ?? 0;
  for (let at = table.offsets[attribute] ?? end; at < end;) {
    const source = table.pairs[at]! >>> KIND_BITS;
    let kinds = table.pairs[at++]! & KIND_MASK;
    for (; at < end && table.pairs[at]! >= DISABLES; at++) {
      const taken = table.pairs[at]!;
      if (counts((taken >>> KIND_BITS) & SOURCE_MASK, source)) kinds &= ~taken;
    }
    if (kinds !== 0) pair(source, kinds);
  }
}

/**
 * Gives each distinct set of (source, kinds) an index. Sources are processed in ascending order, so a set is stored as
 * a chain: a link to the set before the last source, and the kinds that the last source adds.
 */
export class AttributeInterner {
  /** By set: the set without its last source, or -1. */
  private readonly parents: number[] = [];
  private readonly sources: number[] = [];
  private readonly kinds: number[] = [];
  private readonly nameCounts: number[] = [];
  /** By set: union of the kinds of all its sources. */
  private readonly unions: number[] = [];
  /** By set: the source whose rules the last link disables; -1 if the last link adds kinds. */
  private readonly targets: number[] = [];
  /** Sets whose last link disables rules, by the set and link from which they were made. */
  private readonly disabledSets = new Map<string, number>();
  /** Map from (parent, kinds) to set. Only for the current source, because only the current source can create sets. */
  private transitions = new Map<number, number>();
  private source = -1;

  /** Starts a source; throws a RangeError if the indexes are not in ascending order. */
  beginSource(index: number): void {
    if (index <= this.source)
      throw new RangeError(`could not begin source ${index}: source ${this.source} was already begun`);
    this.source = index;
    this.transitions = new Map();
  }

  /** The set of a new name with `kinds` of the current source. */
  first(kinds: number): number {
    const attribute = this.intern(-1, kinds);
    this.nameCounts[attribute]!++;
    return attribute;
  }

  /** The set of a name with `attribute` after the current source adds `kinds`. */
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

  /** Union of the `RuleKind` bits of all sources of a set. */
  union(attribute: number): number {
    return this.unions[attribute]!;
  }

  /**
   * The set of a name with `attribute` after source `by` disables `kinds` of these sources. Call this only after the
   * last source. Readers of the table decide for which classes of clients this applies.
   */
  disable(attribute: number, kinds: number, by: number, sources: ReadonlySet<number>): number {
    let next = attribute;
    // A chain is read from its end, and disabling links are at the end: the rules that `by` disables are known when the
    // link of a source is reached.
    const before = new Map<number, number>();
    for (let at = attribute; at >= 0; at = this.parents[at]!) {
      const source = this.sources[at]!;
      const target = this.targets[at]!;
      if (target >= 0) {
        if (source === by) before.set(target, (before.get(target) ?? 0) | this.kinds[at]!);
        continue;
      }
      const taken = this.kinds[at]! & kinds & ~(before.get(source) ?? 0);
      if (taken !== 0 && sources.has(source)) next = this.withDisabled(next, taken, by, source);
    }
    if (next === attribute) return attribute;
    this.nameCounts[attribute]!--;
    this.nameCounts[next]!++;
    return next;
  }

  private withDisabled(attribute: number, kinds: number, by: number, target: number): number {
    const key = `${attribute} ${by} ${target} ${kinds}`;
    let next = this.disabledSets.get(key);
    if (next === undefined) {
      next = this.append(attribute, by, kinds, target);
      this.disabledSets.set(key, next);
    }
    return next;
  }

  /** The finished table without unused sets, and the new index of each set (not valid for removed sets). */
  finish(): { table: AttributeTable; renumber: Uint32Array } {
    const renumber = new Uint32Array(this.sources.length);
    const offsets: number[] = [0];
    const pairs: number[] = [];
    const nameCounts: number[] = [];
    for (let attribute = 0; attribute < this.sources.length; attribute++) {
      if (this.nameCounts[attribute] === 0) continue;
      renumber[attribute] = nameCounts.length;
      nameCounts.push(this.nameCounts[attribute]!);
      this.pushPairs(attribute, pairs);
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

  /**
   * Adds the pair of each source, each followed by pairs for its rules that other sources disable. Rules that their own
   * source disables are omitted..
   */
  private pushPairs(attribute: number, pairs: number[]): void {
    const first = pairs.length;
    const links: number[] = [];
    for (let at = attribute; at >= 0; at = this.parents[at]!)
      if (this.targets[at] === -1) pairs.push((this.sources[at]! << KIND_BITS) | this.kinds[at]!);
      else links.push(at);
    reverseTail(pairs, first);
    if (links.length === 0) return;
    for (const pair of pairs.splice(first)) {
      const own = links.filter((link) => this.targets[link] === pair >>> KIND_BITS);
      const self = own.filter((link) => this.sources[link] === pair >>> KIND_BITS);
      const left = self.reduce((kept, link) => kept & ~this.kinds[link]!, pair);
      if ((left & KIND_MASK) === 0) continue;
      pairs.push(left);
      for (const link of own)
        if (!self.includes(link))
          pairs.push((DISABLES | (this.sources[link]! << KIND_BITS) | this.kinds[link]!) >>> 0);
    }
  }

  private append(parent: number, source: number, kinds: number, target = -1): number {
    this.parents.push(parent);
    this.sources.push(source);
    this.kinds.push(kinds);
    this.nameCounts.push(0);
    this.targets.push(target);
    const before = parent < 0 ? 0 : this.unions[parent]!;
    this.unions.push(target < 0 ? kinds | before : before);
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
