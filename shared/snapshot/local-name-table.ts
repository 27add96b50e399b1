/**
 * Names that this server answers itself, in the form that threads read. Reading allocates nothing after the table is
 * opened. The table is built by `control-plane/policy/snapshot/build/local-names-builder.ts`;
 * `dns-worker/stages/local-names.ts` answers from the table.
 */
import { RRType } from '../dns/iana.ts';
import { LAYOUT_VERSION, LOCAL_NAMES_MAGIC, LocalNamesLayout as L, LocalNodeFlag } from './layout.ts';

/** Sources of local records, and their codes in memory. */
export const LocalSource = { config: 0, api: 1, dhcp: 2 } as const;
export type LocalSourceName = keyof typeof LocalSource;

/** Read side of the table. Nodes, sets and records are identified by the word at which they start; 0 = none. */
export class LocalNames {
  readonly nodeCount: number;
  /** Maximum number of labels of a name; longer names can only match wildcards. */
  readonly maxLabels: number;
  readonly hasWildcards: boolean;
  /** The whole table as bytes, for reading names and RDATA. */
  readonly bytes: Uint8Array;
  private readonly words: Int32Array;
  private readonly slotMask: number;
  /** Index of the first record in the next answer from each set; private to this thread. */
  private readonly turns: Uint32Array;

  /** Wraps `buffer`; throws a RangeError if it does not contain local names of this layout. */
  constructor(buffer: SharedArrayBuffer) {
    const words = new Int32Array(buffer);
    if (words[L.MAGIC_WORD] !== LOCAL_NAMES_MAGIC || words[L.VERSION_WORD] !== LAYOUT_VERSION)
      throw new RangeError('could not read local names: they have a different layout');
    this.words = words;
    this.bytes = new Uint8Array(buffer);
    this.slotMask = words[L.SLOT_MASK_WORD]!;
    this.nodeCount = words[L.NODE_COUNT_WORD]!;
    this.maxLabels = words[L.MAX_LABELS_WORD]!;
    this.hasWildcards = words[L.HAS_WILDCARDS_WORD] === 1;
    this.turns = new Uint32Array(words[L.SET_COUNT_WORD]!);
  }

  /** The node of the name of `length` bytes at `at`, with these hash lanes. */
  find(low: number, high: number, name: Uint8Array, at: number, length: number): number {
    const { words, slotMask } = this;
    for (let slot = low & slotMask; ; slot = (slot + 1) & slotMask) {
      const word = L.HEADER_WORDS + slot * L.SLOT_WORDS;
      const node = words[word + 1]!;
      if (node === 0) return 0;
      if (words[word] === low && words[node + L.NODE_HIGH] === high && this.isNamed(node, name, at, length))
        return node;
    }
  }

  private isNamed(node: number, name: Uint8Array, at: number, length: number): boolean {
    if (this.words[node + L.NODE_NAME_BYTES] !== length) return false;
    const start = this.nameAt(node);
    for (let i = 0; i < length; i++) if (this.bytes[start + i] !== name[at + i]) return false;
    return true;
  }

  /** Byte at which the uncompressed name of a node starts. */
  nameAt(node: number): number {
    return (node + L.NODE_SETS + this.words[node + L.NODE_SET_COUNT]!) << 2;
  }

  hasRecords(node: number): boolean {
    return this.words[node + L.NODE_SET_COUNT] !== 0;
  }

  /** Whether the name exists: it has records, or is known to be empty. */
  exists(node: number): boolean {
    return this.hasRecords(node) || (this.words[node + L.NODE_FLAGS]! & LocalNodeFlag.EMPTY) !== 0;
  }

  /** The wildcard directly below a node. */
  wildcardBelow(node: number): number {
    return this.words[node + L.NODE_WILDCARD]!;
  }

  /** The record set of a type at a node; for ANY, the first record set (RFC 8482 section 4.1). */
  setOf(node: number, type: number): number {
    const { words } = this;
    const count = words[node + L.NODE_SET_COUNT]!;
    for (let i = 0; i < count; i++) {
      const set = words[node + L.NODE_SETS + i]!;
      if (words[set + L.SET_TYPE] === type || type === RRType.ANY) return set;
    }
    return 0;
  }

  /** Type code of a set. */
  typeOf(set: number): number {
    return this.words[set + L.SET_TYPE]!;
  }

  /** TTL of a set, seconds. */
  ttlSecsOf(set: number): number {
    return this.words[set + L.SET_TTL_SECS]!;
  }

  /** `LocalSource` of the first record of a set. */
  sourceOf(set: number): number {
    return this.words[set + L.SET_SOURCE]!;
  }

  /** Id of the first record of a set; 0 if it has none. */
  recordIdOf(set: number): number {
    return this.words[set + L.SET_RECORD_ID]!;
  }

  /** The node of the target of this set's CNAME; 0 if the target is not a local name. */
  targetOf(set: number): number {
    return this.words[set + L.SET_TARGET]!;
  }

  /** The node of a set. */
  nodeOf(set: number): number {
    return this.words[set + L.SET_NODE]!;
  }

  /** Number of records of a set. */
  countOf(set: number): number {
    return this.words[set + L.SET_COUNT]!;
  }

  /** Byte at which the RDATA of record `index` of a set starts. */
  rdataAt(set: number, index: number): number {
    return (this.words[set + L.SET_RECORDS + index]! + 1) << 2;
  }

  /** Length of the RDATA of record `index` of a set, in bytes. */
  rdataLength(set: number, index: number): number {
    return this.words[this.words[set + L.SET_RECORDS + index]!]!;
  }

  /** Index of the record that comes first in the next answer; advances with each call (round robin). */
  nextTurn(set: number): number {
    const index = this.words[set + L.SET_INDEX]!;
    const turn = this.turns[index]! % this.words[set + L.SET_COUNT]!;
    this.turns[index] = turn + 1;
    return turn;
  }
}
