/**
 * Distinct tuples of a few 32-bit numbers in order of arrival, each with a count: used for clients and outcomes of a
 * block that is being filled. Adding an entry allocates nothing. A tuple may have two entries, because a search gives
 * up after a few steps, so that addresses chosen for hash collisions cost no more than others.
 */
import { randomInt } from 'node:crypto';

/**
 * Numbers per tuple; a shorter one is padded with zeros. The length is fixed, because a loop over a variable length
 * took twice as long.
 */
const TUPLE_WORDS = 5;
/** Number of words of an entry, which consists of a tuple and its count. */
const ENTRY_WORDS = TUPLE_WORDS + 1;
/** Maximum number of steps of a search. */
const MAX_STEPS = 16;
const SMALL_ENTRIES = 256;
const HASH_FACTOR = 0x9e3779b1 | 0;
const OTHER_FACTOR = 0x85ebca77 | 0;

/** A dictionary of at most 65,535 tuples. */
export class WordDictionary {
  /** Number of entries. */
  size = 0;
  /** The tuples, each with its count. */
  words = new Int32Array(SMALL_ENTRIES * ENTRY_WORDS);
  /** Hash table of indexes plus one. Its size is a power of two, twice the number of entries that fit. */
  private slots = new Uint16Array(2 * SMALL_ENTRIES);
  private seed = randomInt(0x1_0000_0000) | 0;

  /** Index of a tuple; adds the tuple if it is missing, and increases its count. The numbers are i32. */
  place(a: number, b: number, c: number, d: number, e: number): number {
    const { slots, words } = this;
    const mask = slots.length - 1;
    let slot = this.hashOf(a, b, c, d, e) & mask;
    for (let step = 0; step < MAX_STEPS; step++) {
      const place = slots[slot]! - 1;
      if (place < 0) {
        slots[slot] = this.size + 1;
        break;
      }
      const at = place * ENTRY_WORDS;
      const isSame =
        words[at] === a &&
        words[at + 1] === b &&
        words[at + 2] === c &&
        words[at + 3] === d &&
        words[at + 4] === e;
      if (isSame) {
        words[at + TUPLE_WORDS]!++;
        return place;
      }
      slot = (slot + 1) & mask;
    }
    return this.add(a, b, c, d, e);
  }

  /** The i32 at position `index` of a tuple. */
  wordOf(place: number, index: number): number {
    return this.words[place * ENTRY_WORDS + index]!;
  }

  /** How often a tuple was added. */
  countOf(place: number): number {
    return this.wordOf(place, TUPLE_WORDS);
  }

  /** Removes all entries; keeps memory for about the same number of new ones. */
  clear(): void {
    const entries = this.slots.length / 2;
    if (entries > SMALL_ENTRIES && this.size < entries / 8) this.resize(SMALL_ENTRIES);
    else this.slots.fill(0);
    this.size = 0;
    this.seed = randomInt(0x1_0000_0000) | 0;
  }

  private add(a: number, b: number, c: number, d: number, e: number): number {
    const place = this.size++;
    const { words } = this;
    const at = place * ENTRY_WORDS;
    words[at] = a;
    words[at + 1] = b;
    words[at + 2] = c;
    words[at + 3] = d;
    words[at + 4] = e;
    words[at + TUPLE_WORDS] = 1;
    if (this.size * 2 === this.slots.length) this.grow();
    return place;
  }

  private hashOf(a: number, b: number, c: number, d: number, e: number): number {
    let lane = Math.imul(a ^ this.seed, HASH_FACTOR) ^ Math.imul(c ^ (this.seed >>> 7), OTHER_FACTOR);
    lane = Math.imul(lane ^ (lane >>> 15) ^ b, HASH_FACTOR);
    lane = Math.imul(lane ^ (lane >>> 15) ^ d, HASH_FACTOR);
    lane = Math.imul(lane ^ (lane >>> 15) ^ e, HASH_FACTOR);
    return lane ^ (lane >>> 15);
  }

  private grow(): void {
    const { words, size } = this;
    this.resize(size * 2);
    this.words.set(words);
    const mask = this.slots.length - 1;
    for (let at = 0, place = 1; place <= size; place++, at += ENTRY_WORDS) {
      const hash = this.hashOf(words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!, words[at + 4]!);
      let slot = hash & mask;
      let step = 0;
      for (; step < MAX_STEPS && this.slots[slot] !== 0; step++) slot = (slot + 1) & mask;
      if (step < MAX_STEPS) this.slots[slot] = place;
    }
  }

  private resize(entries: number): void {
    this.words = new Int32Array(entries * ENTRY_WORDS);
    this.slots = new Uint16Array(2 * entries);
  }
}
