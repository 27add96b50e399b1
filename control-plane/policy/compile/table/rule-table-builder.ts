/**
 * Builds the rule table of `shared/snapshot/rule-table.ts`: names are hashed from their text and written directly to
 * their final buckets. The table grows in place, so that growing needs no additional memory. The buffer is a growable
 * SharedArrayBuffer; its length is exact when finished.
 */
import { FOLD, hashHighStep, hashLowStep } from '../../../../shared/dns/name.ts';
import {
  LAYOUT_VERSION,
  RULE_TABLE_MAGIC,
  RuleTableLayout as L,
  checksumWords,
} from '../../../../shared/snapshot/layout.ts';
import { PrefixLengths } from '../../../../shared/snapshot/prefix-lengths.ts';
import type { AttributeTable } from './attribute-table.ts';
import { AttributeInterner } from './attribute-table.ts';

/**
 * Maximum size of a table in bytes, enough for 63 million names. Only address space is reserved; memory is allocated as
 * the table fills.
 */
const MAX_TABLE_BYTES = 0x4000_0000;
/** Initial number of buckets; they need 4 KiB. */
const FIRST_BUCKETS = 63;
/** Load at which the table grows, and the factor by which it grows. A finished table has a load of 0.78 to 0.9. */
export const MAX_LOAD = 0.9;
const GROWTH = 1.15;

const BUCKET_BYTES = L.BUCKET_WORDS * 4;
const HEADER_BYTES = L.HEADER_WORDS * 4;
const DOT = 0x2e;
/** A name has at most 127 labels. */
const MAX_LABELS = 128;

/** Secret initial values of the two hash lanes. */
export interface TableSeeds {
  /** Each is an i32 or a u32. */
  readonly low: number;
  readonly high: number;
}

/** A finished table. */
export interface BuiltTable {
  readonly rules: SharedArrayBuffer;
  readonly attributes: AttributeTable;
  readonly nameCount: number;
}

/** Builds a table of names; sources are added one after another. */
export class RuleTableBuilder {
  readonly seeds: TableSeeds;
  private readonly buffer: SharedArrayBuffer;
  private readonly interner = new AttributeInterner();
  private words: Int32Array;
  private bucketCount = 0;
  private bucketScale = 0;
  private names = 0;
  private growAt = 0;
  private hashLow = 0;
  private hashHigh = 0;
  /** Hash lanes of the name that was hashed last and of its parents, starting with the top-level domain. */
  readonly low = new Int32Array(MAX_LABELS);
  readonly high = new Int32Array(MAX_LABELS);
  /**
   * Used while the table grows: a copy of the current bucket, and names (three words each) that wait for a lower
   * bucket.
   */
  private readonly lifted = new Int32Array(L.BUCKET_WORDS);
  private readonly waiting: number[] = [];
  /**
   * Names for which there was no free slot up to the end of the table; they are placed from its start on after all
   * other names have moved.
   */
  private readonly wrapped: number[] = [];

  /**
   * `expectedNames` sets the initial size: a low estimate is better than a high one, because a table never shrinks.
   * `add` throws a RangeError if the table would need more than `maxBytes`.
   */
  constructor(seeds: TableSeeds, expectedNames = 0, maxBytes: number = MAX_TABLE_BYTES) {
    this.seeds = { low: seeds.low | 0, high: seeds.high | 0 };
    const buckets = Math.max(FIRST_BUCKETS, Math.ceil(expectedNames / (L.NAMES_PER_BUCKET * MAX_LOAD)));
    this.buffer = new SharedArrayBuffer(tableBytes(FIRST_BUCKETS), { maxByteLength: maxBytes });
    this.words = new Int32Array(0);
    this.resize(buckets);
  }

  /** Starts source `index`, to which the next names belong; indexes must be in ascending order. */
  beginSource(index: number): void {
    this.interner.beginSource(index);
  }

  /**
   * Adds the name whose text, ASCII in any case and without a final dot, is in [start, end) of `bytes`. `kinds` are
   * `RuleKind` bits. The hash is that of `hashName` over the lower-case wire form. Returns the earlier kinds of the
   * name.
   */
  addName(bytes: Uint8Array, start: number, end: number, kinds: number): number {
    this.hash(bytes, start, end);
    return this.add(this.hashLow, this.hashHigh, kinds);
  }

  /**
   * Records that source `by` disables `kinds` of these sources for a name (`$badfilter`); call this only after the last
   * source. The name itself stays in the table.
   */
  disable(name: string, kinds: number, by: number, sources: ReadonlySet<number>): void {
    this.hash(Buffer.from(name), 0, name.length);
    const slot = this.slotOf(this.hashLow, this.hashHigh);
    if (slot < 0) return;
    const attribute = this.words[slot + L.ATTRIBUTE_AT]! - 1;
    this.words[slot + L.ATTRIBUTE_AT] = this.interner.disable(attribute, kinds, by, sources) + 1;
  }

  /** Hashes a name and its parents into `low` and `high`; returns the number of labels. */
  hash(bytes: Uint8Array, start: number, end: number): number {
    let low = this.seeds.low;
    let high = this.seeds.high;
    let labels = 0;
    for (let labelEnd = end; labelEnd > start;) {
      let labelAt = labelEnd;
      while (labelAt > start && bytes[labelAt - 1] !== DOT) labelAt--;
      let word = labelEnd - labelAt;
      let shift = 8;
      for (let at = labelAt; at < labelEnd; at++) {
        word |= FOLD[bytes[at]!]! << shift;
        shift = (shift + 8) & 31;
        if (shift !== 0) continue;
        low = hashLowStep(low, word);
        high = hashHighStep(high, word);
        word = 0;
      }
      if (shift !== 0) {
        low = hashLowStep(low, word);
        high = hashHighStep(high, word);
      }
      this.low[labels] = low;
      this.high[labels] = high;
      labels++;
      labelEnd = labelAt - 1;
    }
    this.hashLow = low;
    this.hashHigh = high;
    return labels;
  }

  /** Index of the word that contains the low lane of the name with these lanes; -1 if the name is absent. */
  private slotOf(low: number, high: number): number {
    const words = this.words;
    let bucket = this.homeOf(low);
    for (let probes = this.bucketCount; probes > 0; probes--) {
      const at = L.HEADER_WORDS + (bucket << L.BUCKET_SHIFT);
      for (let slot = at; slot < at + L.NAMES_PER_BUCKET; slot++)
        if (words[slot] === low && words[slot + L.HIGH_AT] === high && words[slot + L.ATTRIBUTE_AT] !== 0)
          return slot;
      if (((words[at + L.OVERFLOW_AT]! >>> high) & 1) === 0) return -1;
      bucket = bucket + 1 === this.bucketCount ? 0 : bucket + 1;
    }
    return -1;
  }

  /** Adds the name with these hash lanes (i32); returns its earlier kinds. */
  add(low: number, high: number, kinds: number): number {
    if (this.names >= this.growAt) this.grow();
    const words = this.words;
    let bucket = this.homeOf(low);
    for (;;) {
      const at = L.HEADER_WORDS + (bucket << L.BUCKET_SHIFT);
      for (let slot = at; slot < at + L.NAMES_PER_BUCKET; slot++) {
        const attribute = words[slot + L.ATTRIBUTE_AT]!;
        if (attribute === 0) {
          words[slot] = low;
          words[slot + L.HIGH_AT] = high;
          words[slot + L.ATTRIBUTE_AT] = this.interner.first(kinds) + 1;
          this.names++;
          return 0;
        }
        if (words[slot] === low && words[slot + L.HIGH_AT] === high) {
          words[slot + L.ATTRIBUTE_AT] = this.interner.extend(attribute - 1, kinds) + 1;
          return this.interner.union(attribute - 1);
        }
      }
      words[at + L.OVERFLOW_AT]! |= 1 << high;
      bucket = bucket + 1 === this.bucketCount ? 0 : bucket + 1;
    }
  }

  /**
   * Renumbers the attributes, and writes the header and the checksum. `build` is a u32 that identifies this build;
   * `addressCount` is the number of names that are addresses or prefixes, and `prefixes` are the lengths of the
   * prefixes. The builder must not be used afterwards.
   */
  finish(build = 0, addressCount = 0, prefixes = new PrefixLengths()): BuiltTable {
    const { table, renumber } = this.interner.finish();
    const words = this.words;
    for (let at = L.HEADER_WORDS; at < words.length; at += L.BUCKET_WORDS) {
      for (let slot = at + L.ATTRIBUTE_AT; slot < at + L.OVERFLOW_AT; slot++) {
        const attribute = words[slot]!;
        if (attribute !== 0) words[slot] = renumber[attribute - 1]! + 1;
      }
    }
    words[L.MAGIC_WORD] = RULE_TABLE_MAGIC;
    words[L.VERSION_WORD] = LAYOUT_VERSION;
    words[L.BUCKET_COUNT_WORD] = this.bucketCount;
    words[L.NAME_COUNT_WORD] = this.names;
    words[L.ATTRIBUTE_COUNT_WORD] = table.nameCounts.length;
    words[L.BUILD_WORD] = build;
    words[L.ADDRESS_COUNT_WORD] = addressCount;
    words.set(prefixes.words, L.IPV4_PREFIXES_WORD);
    words[L.SEED_LOW_WORD] = this.seeds.low;
    words[L.SEED_HIGH_WORD] = this.seeds.high;
    words[L.CHECKSUM_WORD] = checksumWords(new Uint32Array(this.buffer, 0, words.length), L.HEADER_WORDS);
    return { rules: this.buffer, attributes: table, nameCount: this.names };
  }

  /**
   * Grows in place. The bucket of a name can only get a higher index, so buckets are processed from the last to the
   * first. A name that had overflowed from a lower bucket waits until that lower bucket is processed.
   */
  private grow(): void {
    const before = this.bucketCount;
    this.resize(Math.ceil(before * GROWTH));
    for (let bucket = before - 1; bucket >= 0; bucket--) this.moveBucket(bucket);
    const wrapped = this.wrapped.splice(0);
    for (let at = 0; at < wrapped.length; at += 3)
      this.place(0, wrapped[at]!, wrapped[at + 1]!, wrapped[at + 2]!);
  }

  private resize(buckets: number): void {
    if (tableBytes(buckets) > this.buffer.maxByteLength)
      throw new RangeError(
        `could not build the rule table: more than ${this.names} names do not fit in ` +
          `${this.buffer.maxByteLength} bytes`,
      );
    this.buffer.grow(tableBytes(buckets));
    this.words = new Int32Array(this.buffer, 0, this.buffer.byteLength >>> 2);
    this.bucketCount = buckets;
    this.bucketScale = buckets / 0x1_0000_0000;
    this.growAt = Math.floor(buckets * L.NAMES_PER_BUCKET * MAX_LOAD);
  }

  private homeOf(low: number): number {
    return ((low >>> 0) * this.bucketScale) >>> 0;
  }

  /** Moves the names of a bucket of the smaller table, and the names that waited for this bucket. */
  private moveBucket(bucket: number): void {
    const at = L.HEADER_WORDS + (bucket << L.BUCKET_SHIFT);
    const { words, lifted, waiting } = this;
    for (let word = 0; word < L.BUCKET_WORDS; word++) {
      lifted[word] = words[at + word]!;
      words[at + word] = 0;
    }
    if (waiting.length > 0) this.settleWaiting(bucket);
    for (let slot = 0; slot < L.NAMES_PER_BUCKET; slot++) {
      const attribute = lifted[slot + L.ATTRIBUTE_AT]!;
      if (attribute === 0) return;
      const low = lifted[slot]!;
      const high = lifted[slot + L.HIGH_AT]!;
      const home = this.homeOf(low);
      if (home >= bucket) this.place(home, low, high, attribute);
      else waiting.push(low, high, attribute);
    }
  }

  /** Places the waiting names whose bucket is at or above `bucket`. */
  private settleWaiting(bucket: number): void {
    const names = this.waiting.splice(0);
    for (let at = 0; at < names.length; at += 3) {
      const low = names[at]!;
      const home = this.homeOf(low);
      if (home >= bucket) this.place(home, low, names[at + 1]!, names[at + 2]!);
      else this.waiting.push(low, names[at + 1]!, names[at + 2]!);
    }
  }

  /**
   * Puts a name that is not in the table into the first free slot from bucket `from` on. If there is no free slot up to
   * the end, the search continues at bucket 0, but only after all buckets have been processed: if it continued earlier,
   * processing would overwrite the overflow words that the search sets in lower buckets.
   */
  private place(from: number, low: number, high: number, attribute: number): void {
    const words = this.words;
    for (let bucket = from; bucket < this.bucketCount; bucket++) {
      const at = L.HEADER_WORDS + (bucket << L.BUCKET_SHIFT);
      for (let slot = at; slot < at + L.NAMES_PER_BUCKET; slot++) {
        if (words[slot + L.ATTRIBUTE_AT] !== 0) continue;
        words[slot] = low;
        words[slot + L.HIGH_AT] = high;
        words[slot + L.ATTRIBUTE_AT] = attribute;
        return;
      }
      words[at + L.OVERFLOW_AT]! |= 1 << high;
    }
    this.wrapped.push(low, high, attribute);
  }
}

function tableBytes(buckets: number): number {
  return HEADER_BYTES + buckets * BUCKET_BYTES;
}
