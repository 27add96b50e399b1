/** Counts by name or client, summed for an answer: only what is shown becomes text. */
import type { KeyTable } from './key-table.ts';

/** Counts of one key. */
export interface KeyCounts {
  readonly resolved: number;
  readonly blocked: number;
  readonly other: number;
}

/** By what the largest are chosen. */
export type Weight = 'resolved' | 'blocked' | 'not blocked' | 'all';

/** Sums by key; keys without any are none. */
export type SummedKeys = Pick<
  KeyTable,
  'size' | 'bytes' | 'starts' | 'resolved' | 'blocked' | 'other' | 'unseen' | 'sketch'
>;

/** Sums with what else is known of them. */
export class KeySums<Sum> {
  private readonly table: SummedKeys;
  private readonly toSum: (counts: KeyCounts) => Sum;
  private readonly isIncomplete: boolean;

  /** `isIncomplete`: something that should have been counted was not. */
  constructor(table: SummedKeys, toSum: (counts: KeyCounts) => Sum, isIncomplete = false) {
    this.table = table;
    this.toSum = toSum;
    this.isIncomplete = isIncomplete;
  }

  /** Whether keys were dropped or left out: counts may be too low, and `distinct` is an estimate. */
  get isEstimate(): boolean {
    return this.isIncomplete || this.table.unseen > 0 || this.table.sketch !== null;
  }

  /** Number of different keys. */
  get distinct(): number {
    const weights = this.weights('all');
    let keys = 0;
    for (const weight of weights) if (weight > 0) keys++;
    return Math.max(keys, this.table.sketch?.size ?? 0);
  }

  /** The keys with the largest counts that are not 0, those in the order of their texts where counts are equal. */
  top(limit: number, weight: Weight): (readonly [string, Sum])[] {
    const weights = this.weights(weight);
    const best: number[] = [];
    for (let place = 0; place < weights.length; place++) {
      if (weights[place] === 0) continue;
      if (best.length === limit && !this.isBefore(place, best[limit - 1]!, weights)) continue;
      let from = 0;
      for (let to = best.length; from < to;) {
        const middle = (from + to) >>> 1;
        if (this.isBefore(place, best[middle]!, weights)) to = middle;
        else from = middle + 1;
      }
      best.splice(from, 0, place);
      if (best.length > limit) best.pop();
    }
    return best.map((place) => this.entry(place));
  }

  /** All keys, in no order. */
  *[Symbol.iterator](): IterableIterator<readonly [string, Sum]> {
    const weights = this.weights('all');
    for (let place = 0; place < weights.length; place++) if (weights[place]! > 0) yield this.entry(place);
  }

  private entry(place: number): readonly [string, Sum] {
    const { bytes, starts, resolved, blocked, other } = this.table;
    const text = Buffer.from(bytes.buffer).toString('latin1', starts[place], starts[place + 1]);
    const counts = { resolved: resolved[place]!, blocked: blocked[place]!, other: other[place]! };
    return [text, this.toSum(counts)];
  }

  private weights(weight: Weight): Float64Array {
    const { size, resolved, blocked, other } = this.table;
    if (weight === 'resolved') return resolved.subarray(0, size);
    if (weight === 'blocked') return blocked.subarray(0, size);
    const share = weight === 'all' ? 1 : 0;
    const weights = new Float64Array(size);
    for (let place = 0; place < size; place++)
      weights[place] = resolved[place]! + other[place]! + share * blocked[place]!;
    return weights;
  }

  private isBefore(a: number, b: number, weights: Float64Array): boolean {
    if (weights[a] !== weights[b]) return weights[a]! > weights[b]!;
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
