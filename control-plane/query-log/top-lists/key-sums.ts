/** Counts by name or client, summed for a response; only keys that are shown are converted to strings. */
import type { KeyTable } from './key-table.ts';

/** Counts of one key. */
export interface KeyCounts {
  readonly resolved: number;
  readonly blocked: number;
  readonly other: number;
}

/** The count by which the top keys are selected. */
export type Weight = 'resolved' | 'blocked' | 'not blocked' | 'all';

/** Sums by key; keys without queries are omitted. */
export type SummedKeys = Pick<
  KeyTable,
  'size' | 'bytes' | 'starts' | 'resolved' | 'blocked' | 'other' | 'unseen' | 'sketch'
>;

/** The index of a key, with its count. */
interface Weighed {
  readonly place: number;
  readonly count: number;
}

const NONE: Weighed = { place: 0, count: 0 };

/** Counts by key, converted with `toSum`; also provides their number, and whether they are complete. */
export class KeySums<Sum> {
  private readonly table: SummedKeys;
  private readonly toSum: (counts: KeyCounts) => Sum;
  private readonly isIncomplete: boolean;

  /** `isIncomplete`: some lists or blocks could not be counted. */
  constructor(table: SummedKeys, toSum: (counts: KeyCounts) => Sum, isIncomplete = false) {
    this.table = table;
    this.toSum = toSum;
    this.isIncomplete = isIncomplete;
  }

  /** Whether some keys or blocks are not included, so that counts may be too low and `distinct` is an estimate. */
  get isEstimate(): boolean {
    return this.isIncomplete || this.table.unseen > 0 || this.table.sketch !== null;
  }

  /** Number of different keys. */
  get distinct(): number {
    const { size, resolved, blocked, other, sketch } = this.table;
    let keys = 0;
    for (let place = 0; place < size; place++)
      if (resolved[place]! + blocked[place]! + other[place]! > 0) keys++;
    return Math.max(keys, sketch?.size ?? 0);
  }

  /** The keys with the largest counts above 0; keys with equal counts are sorted as text. */
  top(limit: number, weight: Weight): (readonly [string, Sum])[] {
    const best: Weighed[] = [];
    const { size } = this.table;
    for (let place = 0; place < size && limit > 0; place++) {
      const count = this.count(place, weight);
      const last = best.length === limit ? best[limit - 1]! : NONE;
      if (count === 0 || count < last.count) continue;
      const key = { place, count };
      if (last !== NONE && !this.isBefore(key, last)) continue;
      let from = 0;
      for (let to = best.length; from < to;) {
        const middle = (from + to) >>> 1;
        if (this.isBefore(key, best[middle]!)) to = middle;
        else from = middle + 1;
      }
      best.splice(from, 0, key);
      if (best.length > limit) best.pop();
    }
    return best.map(({ place }) => this.entry(place));
  }

  /** All keys, in no particular order. */
  *[Symbol.iterator](): IterableIterator<readonly [string, Sum]> {
    for (let place = 0; place < this.table.size; place++)
      if (this.count(place, 'all') > 0) yield this.entry(place);
  }

  private entry(place: number): readonly [string, Sum] {
    const { bytes, starts, resolved, blocked, other } = this.table;
    const text = Buffer.from(bytes.buffer).toString('latin1', starts[place], starts[place + 1]);
    const counts = { resolved: resolved[place]!, blocked: blocked[place]!, other: other[place]! };
    return [text, this.toSum(counts)];
  }

  private count(place: number, weight: Weight): number {
    const { resolved, blocked, other } = this.table;
    if (weight === 'resolved') return resolved[place]!;
    if (weight === 'blocked') return blocked[place]!;
    return resolved[place]! + other[place]! + (weight === 'all' ? blocked[place]! : 0);
  }

  private isBefore(one: Weighed, other: Weighed): boolean {
    if (one.count !== other.count) return one.count > other.count;
    const [a, b] = [one.place, other.place];
    const { bytes, starts } = this.table;
    const lengthA = starts[a + 1]! - starts[a]!;
    const lengthB = starts[b + 1]! - starts[b]!;
    for (let i = 0; i < lengthA && i < lengthB; i++) {
      const difference = bytes[starts[a]! + i]! - bytes[starts[b]! + i]!;
      if (difference !== 0) return difference < 0;
    }
    return lengthA < lengthB;
  }
}
