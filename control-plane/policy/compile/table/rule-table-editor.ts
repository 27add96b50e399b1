/**
 * Changes a few names in a copy of a finished rule table, which is faster than building the table again. A name without
 * remaining rules keeps its slot, with an attribute that has no pairs, until the table is built again.
 */
import { hashName, nameFromText } from '../../../../shared/dns/name.ts';
import { RuleTableLayout as L, checksumWords } from '../../../../shared/snapshot/layout.ts';
import type { AttributeTable } from './attribute-table.ts';
import { MAX_LOAD, type BuiltTable } from './rule-table-builder.ts';

/**
 * Limits above which a table is built from scratch: share of names without rules, number of attributes, and growth of
 * the number of attributes.
 */
const MAX_EMPTY = 0.1;
const MAX_ATTRIBUTES = 4096;
const MAX_ATTRIBUTE_GROWTH = 1.5;

/** Editor of a rule table. For one use only: call `set` for names, then `finish`. */
export class RuleTableEditor {
  private readonly buffer: SharedArrayBuffer;
  private readonly words: Int32Array;
  private readonly bucketCount: number;
  private readonly pairsOf: (readonly number[])[] = [];
  private readonly nameCounts: number[];
  private readonly known = new Map<string, number>();
  private readonly hash = { low: 0, high: 0 };
  private names: number;
  private readonly maxAttributes: number;

  constructor(before: SharedArrayBuffer, { offsets, pairs, nameCounts }: AttributeTable) {
    this.buffer = new SharedArrayBuffer(before.byteLength);
    this.words = new Int32Array(this.buffer);
    this.words.set(new Int32Array(before, 0, before.byteLength >>> 2));
    this.bucketCount = this.words[L.BUCKET_COUNT_WORD]!;
    this.names = this.words[L.NAME_COUNT_WORD]!;
    this.nameCounts = [...nameCounts];
    // The limit depends on the table, because tables of many overlapping lists have tens of thousands of attributes.
    this.maxAttributes = Math.max(MAX_ATTRIBUTES, nameCounts.length * MAX_ATTRIBUTE_GROWTH);
    for (let attribute = 0; attribute < nameCounts.length; attribute++) {
      const own = [...pairs.subarray(offsets[attribute], offsets[attribute + 1])];
      this.known.set(own.join(), attribute);
      this.pairsOf.push(own);
    }
  }

  /** Pairs of a name (ASCII, lower case); undefined if the name is not in the table. */
  pairsAt(name: string): readonly number[] | undefined {
    this.hashOf(name);
    const { low, high } = this.hash;
    let bucket = this.homeOf(low);
    for (let probes = this.bucketCount; probes > 0; probes--) {
      const at = L.HEADER_WORDS + (bucket << L.BUCKET_SHIFT);
      for (let slot = at; slot < at + L.NAMES_PER_BUCKET; slot++)
        if (this.words[slot] === low && this.words[slot + L.HIGH_AT] === high) {
          const attribute = this.words[slot + L.ATTRIBUTE_AT]!;
          if (attribute !== 0) return this.pairsOf[attribute - 1];
        }
      if (((this.words[at + L.OVERFLOW_AT]! >>> high) & 1) === 0) return undefined;
      bucket = bucket + 1 === this.bucketCount ? 0 : bucket + 1;
    }
    return undefined;
  }

  /**
   * Assigns these pairs of an `AttributeTable`, in ascending order, to a name (ASCII, lower case); empty = no rule.
   * Returns false if the table is full and must be built again.
   */
  set(name: string, pairs: readonly number[]): boolean {
    this.hashOf(name);
    const { low, high } = this.hash;
    let bucket = this.homeOf(low);
    for (;;) {
      const at = L.HEADER_WORDS + (bucket << L.BUCKET_SHIFT);
      for (let slot = at; slot < at + L.NAMES_PER_BUCKET; slot++) {
        const before = this.words[slot + L.ATTRIBUTE_AT]!;
        if (before === 0) return pairs.length === 0 || this.insert(slot, pairs);
        if (this.words[slot] !== low || this.words[slot + L.HIGH_AT] !== high) continue;
        this.nameCounts[before - 1]!--;
        this.use(slot, pairs);
        return true;
      }
      // Marks that a name with this hash may now be in a later bucket.
      this.words[at + L.OVERFLOW_AT]! |= 1 << high;
      bucket = bucket + 1 === this.bucketCount ? 0 : bucket + 1;
    }
  }

  /** The changed table, which `build`, a u32, identifies; undefined if the table should be built from scratch. */
  finish(build: number): BuiltTable | undefined {
    const empty = this.nameCounts[this.known.get('') ?? -1] ?? 0;
    if (empty > this.names * MAX_EMPTY || this.nameCounts.length > this.maxAttributes) return undefined;
    this.words[L.NAME_COUNT_WORD] = this.names;
    this.words[L.ATTRIBUTE_COUNT_WORD] = this.nameCounts.length;
    this.words[L.BUILD_WORD] = build;
    this.words[L.CHECKSUM_WORD] = checksumWords(new Uint32Array(this.buffer), L.HEADER_WORDS);
    const offsets = [0];
    for (const own of this.pairsOf) offsets.push(offsets.at(-1)! + own.length);
    const attributes = {
      offsets: Uint32Array.from(offsets),
      pairs: Uint32Array.from(this.pairsOf.flat()),
      nameCounts: Uint32Array.from(this.nameCounts),
    };
    return { rules: this.buffer, attributes, nameCount: this.names };
  }

  private hashOf(name: string): void {
    hashName(nameFromText(name)!, 0, this.words[L.SEED_LOW_WORD]!, this.words[L.SEED_HIGH_WORD]!, this.hash);
  }

  private homeOf(low: number): number {
    return ((low >>> 0) * (this.bucketCount / 0x1_0000_0000)) >>> 0;
  }

  private insert(slot: number, pairs: readonly number[]): boolean {
    if (this.names >= Math.floor(this.bucketCount * L.NAMES_PER_BUCKET * MAX_LOAD)) return false;
    this.names++;
    this.words[slot] = this.hash.low;
    this.words[slot + L.HIGH_AT] = this.hash.high;
    this.use(slot, pairs);
    return true;
  }

  private use(slot: number, pairs: readonly number[]): void {
    const key = pairs.join();
    let attribute = this.known.get(key);
    if (attribute === undefined) {
      attribute = this.pairsOf.push(pairs) - 1;
      this.nameCounts.push(0);
      this.known.set(key, attribute);
    }
    this.nameCounts[attribute]!++;
    this.words[slot + L.ATTRIBUTE_AT] = attribute + 1;
  }
}
