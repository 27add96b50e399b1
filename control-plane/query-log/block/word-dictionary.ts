/**
 * Distinct tuples of a few 32-bit numbers in order of arrival, each with a count: clients and outcomes of a block that is
 * being filled. Nothing is allocated for an entry. An entry may occur twice: a search ends after a few steps, so that
 * addresses chosen to collide cost no more than others.
 */
import { randomInt } from 'node:crypto';

/** Steps of a search. */
const MAX_STEPS = 16;
const SMALL_ENTRIES = 256;

/** A dictionary of at most 65,535 tuples of `width` numbers. */
export class WordDictionary {
  /** Entries. */
  size = 0;
  /** The tuple that is looked for. */
  readonly key: Uint32Array;
  /** How often each entry was asked for. */
  counts = new Uint32Array(SMALL_ENTRIES);
  /** The tuples, one after the other. */
  words: Uint32Array;
  private readonly width: number;
  /** Places plus one by hash; twice as many as entries, a power of two. */
  private slots = new Uint16Array(2 * SMALL_ENTRIES);
  private seed = randomInt(0x1_0000_0000);

  constructor(width: number) {
    this.width = width;
    this.key = new Uint32Array(width);
    this.words = new Uint32Array(SMALL_ENTRIES * width);
  }

  /** Place of the tuple in `key`, which is added if it is not there; counts it. */
  place(): number {
    const { slots, words, key, width } = this;
    const mask = slots.length - 1;
    let slot = this.hashOf(key, 0) & mask;
    for (let step = 0; step < MAX_STEPS; step++) {
      const place = slots[slot]! - 1;
      if (place < 0) {
        slots[slot] = this.size + 1;
        return this.add();
      }
      let at = 0;
      while (at < width && words[place * width + at] === key[at]) at++;
      if (at === width) {
        this.counts[place]!++;
        return place;
      }
      slot = (slot + 1) & mask;
    }
    return this.add();
  }

  /** Forgets all entries; keeps memory for about as many. */
  clear(): void {
    if (this.counts.length > SMALL_ENTRIES && this.size < this.counts.length / 8) this.resize(SMALL_ENTRIES);
    this.slots.fill(0);
    this.size = 0;
    this.seed = randomInt(0x1_0000_0000);
  }

  private add(): number {
    const place = this.size++;
    this.words.set(this.key, place * this.width);
    this.counts[place] = 1;
    if (this.size === this.counts.length) this.grow();
    return place;
  }

  private hashOf(words: Uint32Array, at: number): number {
    let lane = this.seed;
    for (let i = at; i < at + this.width; i++) {
      lane = Math.imul(lane ^ words[i]!, 0x9e3779b1);
      lane ^= lane >>> 15;
    }
    return lane >>> 0;
  }

  private grow(): void {
    const { counts, words, size } = this;
    this.resize(counts.length * 2);
    this.counts.set(counts);
    this.words.set(words);
    const mask = this.slots.length - 1;
    for (let place = 0; place < size; place++) {
      let slot = this.hashOf(words, place * this.width) & mask;
      let step = 0;
      for (; step < MAX_STEPS && this.slots[slot] !== 0; step++) slot = (slot + 1) & mask;
      if (step < MAX_STEPS) this.slots[slot] = place + 1;
    }
  }

  private resize(entries: number): void {
    this.counts = new Uint32Array(entries);
    this.words = new Uint32Array(entries * this.width);
    this.slots = new Uint16Array(2 * entries);
  }
}
