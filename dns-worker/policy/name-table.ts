/**
 * A small table of numbered names; lookups use the hashes that parsing leaves in a query. An empty table costs one
 * comparison; only suffixes with the label count of an entry are looked up. `shared/snapshot/rule-table.ts` is for
 * large tables of rules.
 */
import { hashName, MAX_LABELS } from '../../shared/dns/name.ts';
import type { HashedName } from '../../shared/snapshot/special-matcher.ts';

/** A name in lower-case wire form and its number, 0..2^31-2. */
export interface NumberedName {
  readonly name: Uint8Array;
  readonly number: number;
}

/** Result if there is no entry. */
export const NOT_FOUND = -1;

const SLOT_WORDS = 3;
const MIN_SLOTS = 4;

/** Names by hash; a match is confirmed by all 64 bits. */
export class NameTable {
  readonly size: number;
  private readonly mask: number;
  /** Slots of three words: both lanes of the name's hash, low lane first, and its number plus one; 0 = free. */
  private readonly words: Int32Array;
  /** For each number of labels: 1 = an entry has that many labels. */
  private readonly depths = new Uint8Array(MAX_LABELS + 1);

  /** `seeds` are the seeds of the hashes in queries; of equal names, the first is used. */
  constructor(entries: readonly NumberedName[], seedLow: number, seedHigh: number) {
    this.size = entries.length;
    const slots = Math.max(MIN_SLOTS, 2 ** Math.ceil(Math.log2(entries.length * 2 + 1)));
    this.mask = slots - 1;
    this.words = new Int32Array(slots * SLOT_WORDS);
    const hash = { low: 0, high: 0 };
    for (const { name, number } of entries) {
      hashName(name, 0, seedLow, seedHigh, hash);
      if (this.find(hash.low, hash.high) !== NOT_FOUND) continue;
      let slot = hash.low & this.mask;
      while (this.words[slot * SLOT_WORDS + 2] !== 0) slot = (slot + 1) & this.mask;
      this.words.set([hash.low, hash.high, number + 1], slot * SLOT_WORDS);
      this.depths[labelsOf(name)] = 1;
    }
  }

  /** Number of the entry with these hash lanes, or NOT_FOUND. */
  find(low: number, high: number): number {
    const { words, mask } = this;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const at = slot * SLOT_WORDS;
      const number = words[at + 2]!;
      if (number === 0) return NOT_FOUND;
      if (words[at] === low && words[at + 1] === high) return number - 1;
    }
  }

  /**
   * Number of the longest entry that is `name` or a parent of it, or NOT_FOUND. Ignores entries that start before label
   * `skippedLabels`, and entries that start at label `end` or later.
   */
  findSuffix(name: HashedName, skippedLabels = 0, end: number = name.labelCount): number {
    if (this.size === 0) return NOT_FOUND;
    const { hashLow, hashHigh, labelCount } = name;
    for (let label = skippedLabels; label < end; label++) {
      if (this.depths[labelCount - label] === 0) continue;
      const number = this.find(hashLow[label]!, hashHigh[label]!);
      if (number !== NOT_FOUND) return number;
    }
    return NOT_FOUND;
  }
}

function labelsOf(name: Uint8Array): number {
  let labels = 0;
  for (let at = 0; name[at] !== 0; at += name[at]! + 1) labels++;
  return labels;
}
