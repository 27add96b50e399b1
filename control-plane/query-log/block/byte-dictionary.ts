/**
 * Distinct byte strings in order of arrival, each with a number beside it and a count: the dictionaries of a block that
 * is being filled. Nothing is allocated for an entry. An entry may occur twice: a search ends after a few steps, so that
 * names chosen to collide cost no more than others.
 */
import { randomInt } from 'node:crypto';

/** Steps of a search. */
const MAX_STEPS = 16;
const SMALL_ENTRIES = 1024;
const SMALL_BYTES = 16_384;

/** A dictionary of at most 65,535 entries. */
export class ByteDictionary {
  /** Entries. */
  size = 0;
  /** Bytes of all entries, one after the other. */
  bytes = new Uint8Array(SMALL_BYTES);
  /** Where each entry starts; one more than entries. */
  starts = new Uint32Array(SMALL_ENTRIES + 1);
  /** The number beside each entry. */
  tags = new Uint32Array(SMALL_ENTRIES);
  /** How often each entry was asked for. */
  counts = new Uint32Array(SMALL_ENTRIES);
  private hashes = new Uint32Array(SMALL_ENTRIES);
  /** Places plus one by hash; twice as many as entries, a power of two. */
  private slots = new Uint16Array(2 * SMALL_ENTRIES);
  private seed = randomInt(0x1_0000_0000);

  /** Place of an entry, which is added if it is not there; counts it `times`. */
  place(source: Uint8Array, at: number, length: number, tag: number, times = 1): number {
    const hash = this.hash(source, at, length, tag);
    const mask = this.slots.length - 1;
    let slot = hash & mask;
    let free = -1;
    for (let step = 0; step < MAX_STEPS; step++) {
      const place = this.slots[slot]! - 1;
      if (place < 0) {
        free = slot;
        break;
      }
      if (this.hashes[place] === hash && this.tags[place] === tag && this.holds(place, source, at, length)) {
        this.counts[place]! += times;
        return place;
      }
      slot = (slot + 1) & mask;
    }
    if (free >= 0) this.slots[free] = this.size + 1;
    this.tags[this.size] = tag;
    this.hashes[this.size] = hash;
    this.counts[this.size] = times;
    return this.append(source, at, length);
  }

  /** Forgets all entries; keeps memory for about as many. */
  clear(): void {
    const isTooLarge = this.tags.length > SMALL_ENTRIES && this.size < this.tags.length / 8;
    if (isTooLarge) this.resize(SMALL_ENTRIES);
    if (this.bytes.length > SMALL_BYTES && this.starts[this.size]! < this.bytes.length / 8) {
      this.bytes = new Uint8Array(SMALL_BYTES);
    }
    this.slots.fill(0);
    this.size = 0;
    this.seed = randomInt(0x1_0000_0000);
  }

  private append(source: Uint8Array, at: number, length: number): number {
    const place = this.size;
    const start = this.starts[place]!;
    this.reserve(start + length);
    const { bytes } = this;
    for (let i = 0; i < length; i++) bytes[start + i] = source[at + i]!; // Short: `set()` costs more than it saves.
    this.starts[place + 1] = start + length;
    this.size++;
    if (this.size === this.tags.length) this.grow();
    return place;
  }

  private holds(place: number, source: Uint8Array, at: number, length: number): boolean {
    const start = this.starts[place]!;
    if (this.starts[place + 1]! - start !== length) return false;
    const { bytes } = this;
    for (let i = 0; i < length; i++) if (bytes[start + i] !== source[at + i]) return false;
    return true;
  }

  private hash(source: Uint8Array, at: number, length: number, tag: number): number {
    let lane = this.seed ^ Math.imul(tag, 0x9e3779b1);
    const end = at + length;
    let i = at;
    for (; i + 4 <= end; i += 4) {
      const word = source[i]! | (source[i + 1]! << 8) | (source[i + 2]! << 16) | (source[i + 3]! << 24);
      lane = Math.imul(lane ^ word, 0x9e3779b1);
      lane ^= lane >>> 15;
    }
    for (; i < end; i++) lane = Math.imul(lane ^ source[i]!, 0x01000193);
    lane ^= lane >>> 15;
    lane = Math.imul(lane, 0x85ebca77);
    return (lane ^ (lane >>> 13)) >>> 0;
  }

  private reserve(bytes: number): void {
    if (bytes <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(bytes, this.bytes.length * 2));
    larger.set(this.bytes);
    this.bytes = larger;
  }

  private grow(): void {
    const { starts, tags, counts, hashes, size } = this;
    this.resize(tags.length * 2);
    this.starts.set(starts.subarray(0, size + 1));
    this.tags.set(tags);
    this.counts.set(counts);
    this.hashes.set(hashes);
    const mask = this.slots.length - 1;
    for (let place = 0; place < size; place++) {
      let slot = hashes[place]! & mask;
      let step = 0;
      while (this.slots[slot] !== 0 && step < MAX_STEPS) {
        slot = (slot + 1) & mask;
        step++;
      }
      if (step < MAX_STEPS) this.slots[slot] = place + 1;
    }
  }

  private resize(entries: number): void {
    this.starts = new Uint32Array(entries + 1);
    this.tags = new Uint32Array(entries);
    this.counts = new Uint32Array(entries);
    this.hashes = new Uint32Array(entries);
    this.slots = new Uint16Array(2 * entries);
  }
}
