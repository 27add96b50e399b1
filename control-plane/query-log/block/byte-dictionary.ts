/**
 * Distinct byte strings in order of arrival, each with a tag and a count: used for the dictionaries of a block that is
 * being filled. Adding an entry allocates nothing. A string may have two entries, because a search gives up after a few
 * steps, so that names chosen for hash collisions cost no more than others.
 *
 * An entry is contiguous, with its numbers before its bytes, so that finding it loads only one or two cache lines;
 * separate arrays took twice as long.
 */
import { randomInt } from 'node:crypto';
import { lastWord, type ViewedBytes } from './viewed-bytes.ts';

/** Offsets of the 32-bit words of an entry. The bytes of the string follow, padded with zeros to a whole word. */
export const Entry = {
  /** Index of the entry in order of arrival. */
  PLACE: 0,
  HASH: 1,
  /** A number that belongs to the key: equal bytes with another tag are another entry. */
  TAG: 2,
  /** Number of times that the entry was added. */
  COUNT: 3,
  /** Length in bytes. */
  LENGTH: 4,
  /** `NOTES` words that the owner of the dictionary may use, initially 0. */
  NOTE: 5,
  BYTES: 8,
} as const;
/** Number of words for notes. */
export const NOTES = Entry.BYTES - Entry.NOTE;
/** Offset of the first entry. 0 means no entry. */
export const FIRST_ENTRY = 1;

/** Maximum steps of a search. */
const MAX_STEPS = 16;
const SMALL_SLOTS = 2048;
const SMALL_WORDS = 8192;
/** The low bits of a slot are the offset of an entry, and the other bits are part of the entry's hash. */
const PLACE_BITS = 24;
const PLACE_MASK = 2 ** PLACE_BITS - 1;
const HASH_FACTOR = 0x9e3779b1 | 0;

/** A dictionary of at most 65,535 entries. */
export class ByteDictionary implements ViewedBytes {
  /** Number of entries. */
  size = 0;
  /** Total length of all strings, without the other words of the entries. */
  byteCount = 0;
  /** The entries one after another, see `Entry`. `bytes` and `view` share this memory. */
  words = new Int32Array(SMALL_WORDS);
  bytes = new Uint8Array(this.words.buffer);
  view = new DataView(this.words.buffer);
  /** Offset at which the next entry is added. */
  private end = FIRST_ENTRY;
  /** Hash table of entries (0 = free slot). Its size is a power of two, at least twice the number of entries. */
  private slots = new Int32Array(SMALL_SLOTS);
  /** The free slot at which the last unsuccessful search ended; -1 = it gave up after too many steps. */
  private freeSlot = -1;
  private seed = randomInt(0x1_0000_0000) | 0;

  /** Finds the entry of a string, or adds one, and increases its count. Returns the offset of the entry in `words`. */
  find(source: ViewedBytes, at: number, length: number, tag: number): number {
    const { slots, words } = this;
    const hash = this.hash(source, at, length, tag);
    const mask = slots.length - 1;
    let slot = hash & mask;
    this.freeSlot = -1;
    for (let step = 0; step < MAX_STEPS; step++) {
      const found = slots[slot]!;
      if (found === 0) {
        this.freeSlot = slot;
        break;
      }
      const entry = found & PLACE_MASK;
      if (
        (found ^ hash) >>> PLACE_BITS === 0 &&
        words[entry + Entry.HASH] === hash &&
        words[entry + Entry.TAG] === tag &&
        words[entry + Entry.LENGTH] === length &&
        this.holds(entry + Entry.BYTES, source, at, length)
      ) {
        words[entry + Entry.COUNT]!++;
        return entry;
      }
      slot = (slot + 1) & mask;
    }
    return this.append(source, at, length, tag, hash);
  }

  /** Offset of the entry that follows an entry. */
  after(entry: number): number {
    return entry + Entry.BYTES + ((this.words[entry + Entry.LENGTH]! + 3) >>> 2);
  }

  /** The word at one offset of each entry, in order of arrival. */
  column(word: number): Uint32Array {
    const numbers = new Uint32Array(this.size);
    for (let place = 0, entry = FIRST_ENTRY; place < this.size; place++, entry = this.after(entry))
      numbers[place] = this.words[entry + word]!;
    return numbers;
  }

  /** Removes all entries; keeps memory for about the same number of new ones. */
  clear(): void {
    const { slots, words } = this;
    if (slots.length > SMALL_SLOTS && this.size < slots.length / 16) this.slots = new Int32Array(SMALL_SLOTS);
    else slots.fill(0);
    if (words.length > SMALL_WORDS && this.end < words.length / 8) this.setWords(new Int32Array(SMALL_WORDS));
    this.size = 0;
    this.byteCount = 0;
    this.end = FIRST_ENTRY;
    this.seed = randomInt(0x1_0000_0000) | 0;
  }

  private append(source: ViewedBytes, at: number, length: number, tag: number, hash: number): number {
    const entry = this.end;
    const wholeEnd = entry + Entry.BYTES + (length >>> 2);
    this.reserve(wholeEnd + 1);
    const { words } = this;
    words[entry + Entry.PLACE] = this.size;
    words[entry + Entry.HASH] = hash;
    words[entry + Entry.TAG] = tag;
    words[entry + Entry.COUNT] = 1;
    words[entry + Entry.LENGTH] = length;
    for (let note = 0; note < NOTES; note++) words[entry + Entry.NOTE + note] = 0;
    let from = at;
    for (let word = entry + Entry.BYTES; word < wholeEnd; word++, from += 4)
      words[word] = source.view.getInt32(from, true);
    if ((length & 3) !== 0) words[wholeEnd] = lastWord(source, at + length, length & 3);
    this.end = this.after(entry);
    this.size++;
    this.byteCount += length;
    // An entry whose offset is too large for a slot gets none, so no search finds it.
    if (this.freeSlot >= 0 && entry <= PLACE_MASK) this.slots[this.freeSlot] = entry | (hash & ~PLACE_MASK);
    if (this.size * 2 > this.slots.length) this.grow();
    return entry;
  }

  private holds(from: number, source: ViewedBytes, at: number, length: number): boolean {
    const { words } = this;
    const { view } = source;
    const wholeEnd = from + (length >>> 2);
    let sourceAt = at;
    for (let word = from; word < wholeEnd; word++, sourceAt += 4)
      if (words[word] !== view.getInt32(sourceAt, true)) return false;
    return (length & 3) === 0 || words[wholeEnd] === lastWord(source, at + length, length & 3);
  }

  private hash(source: ViewedBytes, at: number, length: number, tag: number): number {
    const { view } = source;
    let lane = this.seed ^ Math.imul(tag, HASH_FACTOR);
    const wholeEnd = at + (length & ~3);
    for (let i = at; i < wholeEnd; i += 4) {
      lane = Math.imul(lane ^ view.getInt32(i, true), HASH_FACTOR);
      lane ^= lane >>> 15;
    }
    if ((length & 3) !== 0) lane = Math.imul(lane ^ lastWord(source, at + length, length & 3), HASH_FACTOR);
    lane ^= lane >>> 15;
    lane = Math.imul(lane ^ length, 0x85ebca77);
    return lane ^ (lane >>> 13);
  }

  private reserve(words: number): void {
    if (words <= this.words.length) return;
    const larger = new Int32Array(Math.max(words, this.words.length * 2));
    larger.set(this.words);
    this.setWords(larger);
  }

  private setWords(words: Int32Array<ArrayBuffer>): void {
    this.words = words;
    this.bytes = new Uint8Array(words.buffer);
    this.view = new DataView(words.buffer);
  }

  private grow(): void {
    const slots = new Int32Array(this.slots.length * 2);
    const { words, size } = this;
    const mask = slots.length - 1;
    for (let place = 0, entry = FIRST_ENTRY; place < size; place++, entry = this.after(entry)) {
      const hash = words[entry + Entry.HASH]!;
      let slot = hash & mask;
      let step = 0;
      for (; step < MAX_STEPS && slots[slot] !== 0; step++) slot = (slot + 1) & mask;
      if (step < MAX_STEPS && entry <= PLACE_MASK) slots[slot] = entry | (hash & ~PLACE_MASK);
    }
    this.slots = slots;
  }
}
