/**
 * The compiled rules of all lists: a map from names to attribute ids, in one immutable buffer that every thread reads.
 * An attribute stands for one distinct set of (source, kind); `policy-table.ts` contains the effect of an attribute on
 * each group. A name is confirmed by a 64-bit keyed fingerprint: among n names, the probability that an unlisted name
 * is mistaken for a listed one is n / 2^64 (5 million names: 2.7e-13 per lookup). Built by
 * `control-plane/policy/compile/table/rule-table-builder.ts`.
 */
import { LAYOUT_VERSION, RULE_TABLE_MAGIC, RuleTableLayout as L } from './layout.ts';
import { PrefixLengths } from './prefix-lengths.ts';

/** The kinds of rules that a source has for a name, as bits. */
export const RuleKind = {
  /** Blocks only this name. */
  BLOCK_EXACT: 1,
  /** Blocks this name and its subdomains. */
  BLOCK_SUFFIX: 2,
  ALLOW_EXACT: 4,
  ALLOW_SUFFIX: 8,
  /** `$important`: outranks allow rules of lists; covers the name and its subdomains. */
  IMPORTANT_BLOCK_SUFFIX: 16,
  IMPORTANT_ALLOW_SUFFIX: 32,
  /** Blocks the subdomains of this name, but not the name itself. */
  BLOCK_BELOW: 64,
  ALLOW_BELOW: 128,
} as const;

/** The kinds of manual rules for a name, as bits. */
export const ManualKind = {
  SERVICE_EXACT: 1,
  SERVICE_SUFFIX: 2,
  ALLOW_EXACT: 4,
  ALLOW_SUFFIX: 8,
  DENY_EXACT: 16,
  DENY_SUFFIX: 32,
} as const;

/** Manual kinds that cover subdomains. */
export const MANUAL_SUFFIX_KINDS =
  ManualKind.SERVICE_SUFFIX | ManualKind.ALLOW_SUFFIX | ManualKind.DENY_SUFFIX;

/** Kinds that cover subdomains. */
export const SUFFIX_KINDS =
  RuleKind.BLOCK_SUFFIX |
  RuleKind.ALLOW_SUFFIX |
  RuleKind.IMPORTANT_BLOCK_SUFFIX |
  RuleKind.IMPORTANT_ALLOW_SUFFIX;

/** Kinds that apply to the name itself, and kinds that apply to its subdomains. */
export const OWN_KINDS = 0xff & ~(RuleKind.BLOCK_BELOW | RuleKind.ALLOW_BELOW);
export const INHERITED_KINDS = SUFFIX_KINDS | RuleKind.BLOCK_BELOW | RuleKind.ALLOW_BELOW;

/** Read side of a rule table. */
export class RuleTable {
  readonly seedLow: number;
  readonly seedHigh: number;
  readonly nameCount: number;
  /** Number of names that are addresses. */
  readonly addressCount: number;
  /** Lengths of the prefixes that have rules for addresses, longest first. */
  readonly ipv4Prefixes: Uint8Array;
  readonly ipv6Prefixes: Uint8Array;
  /** Random number of the build, which distinguishes tables with equal content. */
  readonly build: number;
  readonly attributeCount: number;
  private readonly words: Int32Array;
  private readonly bucketCount: number;
  /** Factor that maps a low lane to a bucket with one multiplication. */
  private readonly bucketScale: number;

  /** Wraps `buffer`; throws a RangeError if it is not a rule table of this layout. */
  constructor(buffer: SharedArrayBuffer) {
    // An explicit length makes this view fixed in length and therefore fast, even over a growable buffer.
    const words = new Int32Array(buffer, 0, buffer.byteLength >>> 2);
    if (words[L.MAGIC_WORD] !== RULE_TABLE_MAGIC || words[L.VERSION_WORD] !== LAYOUT_VERSION)
      throw new RangeError('could not read a rule table: it has a different layout');
    this.words = words;
    this.bucketCount = words[L.BUCKET_COUNT_WORD]!;
    if (words.length !== L.HEADER_WORDS + this.bucketCount * L.BUCKET_WORDS)
      throw new RangeError('could not read a rule table: its length does not match its bucket count');
    this.bucketScale = this.bucketCount / 0x1_0000_0000;
    this.nameCount = words[L.NAME_COUNT_WORD]!;
    this.addressCount = words[L.ADDRESS_COUNT_WORD]!;
    const prefixes = new PrefixLengths(words.subarray(L.IPV4_PREFIXES_WORD, L.HEADER_WORDS));
    this.ipv4Prefixes = prefixes.lengthsFor(32);
    this.ipv6Prefixes = prefixes.lengthsFor(128);
    this.build = words[L.BUILD_WORD]!;
    this.attributeCount = words[L.ATTRIBUTE_COUNT_WORD]!;
    this.seedLow = words[L.SEED_LOW_WORD]!;
    this.seedHigh = words[L.SEED_HIGH_WORD]!;
  }

  /**
   * The attribute id of the name with these hash lanes (i32, computed with this table's seeds), or -1. Allocates
   * nothing.
   */
  find(low: number, high: number): number {
    const words = this.words;
    let bucket = ((low >>> 0) * this.bucketScale) >>> 0;
    for (let probes = this.bucketCount; probes > 0; probes--) {
      const at = L.HEADER_WORDS + (bucket << L.BUCKET_SHIFT);
      for (let slot = at; slot < at + L.NAMES_PER_BUCKET; slot++) {
        if (words[slot] === low && words[slot + L.HIGH_AT] === high) {
          const attribute = words[slot + L.ATTRIBUTE_AT]!;
          if (attribute !== 0) return attribute - 1;
        }
      }
      if (((words[at + L.OVERFLOW_AT]! >>> high) & 1) === 0) return -1;
      bucket = bucket + 1 === this.bucketCount ? 0 : bucket + 1;
    }
    return -1;
  }
}
