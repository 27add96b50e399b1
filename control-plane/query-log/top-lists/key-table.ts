/**
 * Counts by key (a name or a client as text) and tag (a group id, or 0 for all groups) in bounded memory; adding an
 * entry allocates nothing. Counts are exact while all keys fit. If there are too many, the keys with the smallest
 * counts are removed, and the table records how far other counts may be too low (like "space saving", Metwally 2005):
 * the missing count of an absent key is at most `unseen`, and that of a present key at most `unseen - known`, which is
 * 0 if the key was added before any were removed.
 */
import { randomInt } from 'node:crypto';
import { DistinctSketch } from './distinct-sketch.ts';
import { hashText } from './text-hash.ts';

/** Maximum number of entries, and maximum total length of their texts in bytes; such a table needs about 30 MB. */
export const MAX_ENTRIES = 200_000;
const MAX_BYTES = 16 * 1024 * 1024;
const SMALL_ENTRIES = 512;
const SMALL_BYTES = 16_384;
/**
 * Entries with the same smallest count are all removed, because a choice among them would be arbitrary: most are names
 * of a flood. Only if fewer entries than this would remain, some of them are kept.
 */
const FEW_ENTRIES = 1024;

/** A table that grows up to a limit. */
export class KeyTable {
  /** Number of entries. */
  size = 0;
  /** Concatenated texts. */
  bytes = new Uint8Array(SMALL_BYTES);
  /** Start of each text, and the end of the last text. */
  starts = new Uint32Array(SMALL_ENTRIES + 1);
  tags = new Uint32Array(SMALL_ENTRIES);
  /** Counts of each entry. */
  resolved = new Float64Array(SMALL_ENTRIES);
  blocked = new Float64Array(SMALL_ENTRIES);
  other = new Float64Array(SMALL_ENTRIES);
  /** For each entry: the part of `unseen` that cannot be missing from its counts. */
  known = new Float64Array(SMALL_ENTRIES);
  /** Maximum count that an absent key may have had. */
  unseen = 0;
  /** Estimates the number of keys ever added, with any tag; null while no key has been removed. */
  sketch: DistinctSketch | null = null;
  private hashes = new Uint32Array(SMALL_ENTRIES);
  /** Hash table of indexes plus one. Its size is a power of two, twice the number of entries that fit. */
  private slots = new Uint32Array(2 * SMALL_ENTRIES);
  private readonly key = Int32Array.of(randomInt(0x1_0000_0000), randomInt(0x1_0000_0000));
  private readonly max: number;

  constructor(max = MAX_ENTRIES) {
    this.max = max;
  }

  /** Index of a key; adds the key without counts if it is absent. The index is valid until the next call. */
  place(source: Uint8Array, at: number, length: number, tag: number): number {
    const hash = hashText(source, at, length, tag, this.key);
    let slot = this.freeSlotOrHolder(hash, source, at, length, tag);
    if (this.slots[slot] !== 0) return this.slots[slot]! - 1;
    if (this.size >= this.max || this.starts[this.size]! + length > MAX_BYTES) {
      this.keepLargest(this.max >>> 1, MAX_BYTES >>> 1);
      slot = this.freeSlotOrHolder(hash, source, at, length, tag);
    }
    const place = this.append(source, at, length);
    this.slots[slot] = place + 1;
    this.tags[place] = tag;
    this.hashes[place] = hash;
    this.sketch?.add(source, at, length);
    if (this.size === this.tags.length) this.resize(this.size * 2);
    return place;
  }

  /** Index of an entry; -1 if it is absent. */
  find(source: Uint8Array, at: number, length: number, tag: number): number {
    const hash = hashText(source, at, length, tag, this.key);
    return this.slots[this.freeSlotOrHolder(hash, source, at, length, tag)]! - 1;
  }

  /** Adds all entries of another table. */
  addTable(other: KeyTable): void {
    this.addUnseen(other.unseen, other.sketch);
    for (let from = 0; from < other.size; from++) {
      const start = other.starts[from]!;
      const place = this.place(other.bytes, start, other.starts[from + 1]! - start, other.tags[from]!);
      this.resolved[place]! += other.resolved[from]!;
      this.blocked[place]! += other.blocked[from]!;
      this.other[place]! += other.other[from]!;
      this.known[place]! += other.known[from]!;
    }
  }

  /**
   * Subtracts the counts of another table from this one; the maximum count of absent keys does not change. Entries
   * without counts are removed.
   */
  subtractTable(other: KeyTable): void {
    for (let from = 0; from < other.size; from++) {
      const start = other.starts[from]!;
      const place = this.find(other.bytes, start, other.starts[from + 1]! - start, other.tags[from]!);
      if (place < 0) continue;
      for (const column of ['resolved', 'blocked', 'other'] as const)
        this[column][place] = Math.max(0, this[column][place]! - other[column][from]!);
    }
    let kept = 0;
    for (let place = 0; place < this.size; place++) if (this.total(place) > 0) this.move(place, kept++);
    this.size = kept;
    this.resize(this.tags.length);
  }

  /** Records that the data that is added next may lack some keys, each with a count of at most `unseen`. */
  addUnseen(unseen: number, sketch: DistinctSketch | null): void {
    this.unseen += unseen;
    if (sketch !== null) this.beginSketch().join(sketch);
  }

  /** Number of queries of an entry. */
  total(place: number): number {
    return this.resolved[place]! + this.blocked[place]! + this.other[place]!;
  }

  text(place: number): string {
    return Buffer.from(this.bytes.buffer).toString('latin1', this.starts[place], this.starts[place + 1]);
  }

  /** Removes the entries with the smallest counts until the rest is within these limits. */
  keepLargest(maxEntries: number, maxBytes: number): void {
    if (this.size > maxEntries) this.drop(maxEntries);
    while (this.starts[this.size]! > maxBytes) {
      const share = maxBytes / this.starts[this.size]!;
      this.drop(Math.floor(this.size * Math.min(share, 0.9)));
    }
  }

  private drop(max: number): void {
    const { size } = this;
    const totals = new Float64Array(size);
    for (let place = 0; place < size; place++) totals[place] = this.total(place);
    const threshold = totals.slice().sort()[size - max - 1]!;
    let larger = 0;
    for (const total of totals) if (total > threshold) larger++;
    let ties = larger < FEW_ENTRIES ? max - larger : 0;
    const before = this.unseen;
    this.beginSketch();
    let kept = 0;
    for (let place = 0; place < size; place++) {
      const total = totals[place]!;
      if (total > threshold || (total === threshold && ties-- > 0)) this.move(place, kept++);
      else this.unseen = Math.max(this.unseen, total + before - this.known[place]!);
    }
    this.size = kept;
    for (let place = 0; place < kept; place++) this.known[place]! += this.unseen - before;
    let entries = this.tags.length;
    while (entries > SMALL_ENTRIES && entries > kept * 4) entries /= 2;
    this.resize(entries);
  }

  private move(from: number, to: number): void {
    const start = this.starts[from]!;
    const end = this.starts[from + 1]!;
    const target = this.starts[to]!;
    this.bytes.copyWithin(target, start, end);
    this.starts[to + 1] = target + end - start;
    this.tags[to] = this.tags[from]!;
    this.hashes[to] = this.hashes[from]!;
    this.resolved[to] = this.resolved[from]!;
    this.blocked[to] = this.blocked[from]!;
    this.other[to] = this.other[from]!;
    this.known[to] = this.known[from]!;
  }

  private beginSketch(): DistinctSketch {
    if (this.sketch !== null) return this.sketch;
    this.sketch = new DistinctSketch();
    for (let place = 0; place < this.size; place++) {
      const start = this.starts[place]!;
      this.sketch.add(this.bytes, start, this.starts[place + 1]! - start);
    }
    return this.sketch;
  }

  private freeSlotOrHolder(
    hash: number,
    source: Uint8Array,
    at: number,
    length: number,
    tag: number,
  ): number {
    const mask = this.slots.length - 1;
    let slot = hash & mask;
    for (; ; slot = (slot + 1) & mask) {
      const place = this.slots[slot]! - 1;
      if (place < 0) return slot;
      if (this.hashes[place] === hash && this.tags[place] === tag && this.holds(place, source, at, length)) {
        return slot;
      }
    }
  }

  private holds(place: number, source: Uint8Array, at: number, length: number): boolean {
    const start = this.starts[place]!;
    if (this.starts[place + 1]! - start !== length) return false;
    const { bytes } = this;
    for (let i = 0; i < length; i++) if (bytes[start + i] !== source[at + i]) return false;
    return true;
  }

  private append(source: Uint8Array, at: number, length: number): number {
    const place = this.size++;
    const start = this.starts[place]!;
    if (start + length > this.bytes.length) {
      const larger = new Uint8Array(Math.max(start + length, this.bytes.length * 2));
      larger.set(this.bytes);
      this.bytes = larger;
    }
    const { bytes } = this;
    // A loop is faster than `set()`, because the texts are short.
    for (let i = 0; i < length; i++) bytes[start + i] = source[at + i]!;
    this.starts[place + 1] = start + length;
    this.resolved[place] = 0;
    this.blocked[place] = 0;
    this.other[place] = 0;
    this.known[place] = 0;
    return place;
  }

  /** Resizes to `entries`, a power of two, and rehashes all entries. */
  private resize(entries: number): void {
    if (entries !== this.tags.length) {
      this.starts = resized(this.starts, new Uint32Array(entries + 1));
      this.tags = resized(this.tags, new Uint32Array(entries));
      this.hashes = resized(this.hashes, new Uint32Array(entries));
      this.resolved = resized(this.resolved, new Float64Array(entries));
      this.blocked = resized(this.blocked, new Float64Array(entries));
      this.other = resized(this.other, new Float64Array(entries));
      this.known = resized(this.known, new Float64Array(entries));
      this.slots = new Uint32Array(2 * entries);
    } else this.slots.fill(0);
    const mask = this.slots.length - 1;
    for (let place = 0; place < this.size; place++) {
      let slot = this.hashes[place]! & mask;
      while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
      this.slots[slot] = place + 1;
    }
  }
}

function resized<T extends Uint32Array | Float64Array>(from: T, to: T): T {
  to.set(from.length <= to.length ? from : from.subarray(0, to.length));
  return to;
}
