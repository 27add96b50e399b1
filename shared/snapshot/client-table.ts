/**
 * The group of a client, and whether the client is admitted: flat ranges of addresses. Precedence and longest prefix
 * were resolved when the table was built (`control-plane/policy/snapshot/build/client-table-builder.ts`), so that a
 * lookup is one binary search. A lookup finds an *entry*: the index of a record, and the bits of admission and
 * exclusion. `shared/memory/sighting-layout.ts` has the data that a thread stores per client.
 */
import { addressToText, addressWord } from '../net/ip.ts';
import { MAC_IDENTITY_WORD, macOfIdentity } from '../net/mac.ts';
import { Exclusion, type ExclusionBits } from '../query-log.ts';
import { CLIENT_TABLE_MAGIC, ClientTableLayout as L, LAYOUT_VERSION } from './layout.ts';

/** Source of a client's group. The numbers are stored in shared memory. */
export const ClientGroupSource = { default: 0, subnet: 1, manual: 2, mac: 3, key: 4 } as const;
export type ClientGroupSourceName = keyof typeof ClientGroupSource;
const SOURCE_NAMES = Object.keys(ClientGroupSource) as readonly ClientGroupSourceName[];

/** Words three and four of every IPv4 address in IPv6 form (RFC 4291 section 2.5.5.2). */
const MAPPED_WORD = 0xffff;
const SIGN_BIT = 0x80000000 | 0;

/** Index of an entry's record. */
export function recordOf(entry: number): number {
  return entry & L.RECORD_MASK;
}

/** Whether a client with this entry may send queries. */
export function isAdmitted(entry: number): boolean {
  return (entry & L.ADMITTED_BIT) !== 0;
}

/** Whether a client with this entry is in `dns.blocked_clients`. */
export function isBlocked(entry: number): boolean {
  return (entry & L.BLOCKED_BIT) !== 0;
}

/** Whether queries of a client with this entry are excluded from the log or from statistics. */
export function exclusionOf(entry: number): ExclusionBits {
  return ((entry >>> L.EXCLUSION_SHIFT) & Exclusion.BOTH) as ExclusionBits;
}

/** The same entry with an additional exclusion, for a client that is excluded at any address. */
export function withExclusion(entry: number, exclusion: ExclusionBits): number {
  return (entry & ~(Exclusion.BOTH << L.EXCLUSION_SHIFT)) | (exclusion << L.EXCLUSION_SHIFT);
}

/**
 * The entry with another record, for a client whose MAC shows that the record for its address belongs to another
 * client.
 */
export function withRecord(entry: number, record: number): number {
  return (entry & ~L.RECORD_MASK) | record;
}

/**
 * `blockedEntry`: the entry of a client that is never admitted; `admittedEntry`: the entry of a client that is admitted
 * from everywhere unless it is blocked.
 */
export function blockedEntry(entry: number): number {
  return (entry & ~L.ADMITTED_BIT) | L.BLOCKED_BIT;
}
export function admittedEntry(entry: number): number {
  return isBlocked(entry) ? entry : entry | L.ADMITTED_BIT;
}

/** Read side of a client table. */
export class ClientTable {
  private readonly words: Int32Array;
  private readonly recordCount: number;
  private readonly ipv4At: number;
  private readonly ipv4Count: number;
  private readonly ipv6At: number;
  private readonly ipv6Count: number;
  /** Whether any client may be identified by its MAC. */
  readonly hasMacs: boolean;

  /** Wraps `buffer`; throws a RangeError if it is not a client table of this layout. */
  constructor(buffer: SharedArrayBuffer) {
    const words = new Int32Array(buffer);
    if (words[L.MAGIC_WORD] !== CLIENT_TABLE_MAGIC || words[L.VERSION_WORD] !== LAYOUT_VERSION)
      throw new RangeError('could not read a client table: it has a different layout');
    this.words = words;
    this.recordCount = words[L.RECORD_COUNT_WORD]!;
    this.ipv4Count = words[L.IPV4_RANGE_COUNT_WORD]!;
    this.ipv6Count = words[L.IPV6_RANGE_COUNT_WORD]!;
    this.ipv4At = L.HEADER_WORDS + this.recordCount * L.RECORD_WORDS;
    this.ipv6At = this.ipv4At + this.ipv4Count * (L.IPV4_WORDS + 1);
    if (this.ipv6At + this.ipv6Count * (L.IPV6_WORDS + 1) > words.length)
      throw new RangeError('could not read a client table: it is shorter than its header says');
    // Ranges for MACs come after all addresses that clients can have.
    const lastAt = this.ipv6At + (this.ipv6Count - 1) * L.IPV6_WORDS;
    this.hasMacs = (words[lastAt]! ^ SIGN_BIT) === MAC_IDENTITY_WORD;
  }

  /**
   * The entry for an address of four words (`addressWord`); its record has index 0 if there is no record for the
   * client.
   */
  find(word0: number, word1: number, word2: number, word3: number): number {
    return word0 === 0 && word1 === 0 && word2 === MAPPED_WORD
      ? this.findIpv4(word3 ^ SIGN_BIT)
      : this.findIpv6(word0 ^ SIGN_BIT, word1 ^ SIGN_BIT, word2 ^ SIGN_BIT, word3 ^ SIGN_BIT);
  }

  /** The entry for the address at `clientAt` of `clientBytes`. */
  findOf({ clientBytes, clientAt }: { readonly clientBytes: Uint8Array; readonly clientAt: number }): number {
    return this.find(
      addressWord(clientBytes, clientAt),
      addressWord(clientBytes, clientAt + 4),
      addressWord(clientBytes, clientAt + 8),
      addressWord(clientBytes, clientAt + 12),
    );
  }

  /** Index in the policy table of an entry's group. */
  groupIndexOf(entry: number): number {
    return this.words[L.HEADER_WORDS + recordOf(entry) * L.RECORD_WORDS]!;
  }

  /** Whether an entry's record belongs to a MAC. */
  isByMac(entry: number): boolean {
    return this.words[L.HEADER_WORDS + recordOf(entry) * L.RECORD_WORDS + 1]! >>> 8 === ClientGroupSource.mac;
  }

  /** Kind of an entry's record, and its address, network or MAC; null for the default and for keys. */
  describe(entry: number): { source: ClientGroupSourceName; prefix: string | null } {
    const at = L.HEADER_WORDS + recordOf(entry) * L.RECORD_WORDS;
    const kind = this.words[at + 1]!;
    const source = SOURCE_NAMES[kind >>> 8]!;
    if (source === 'default' || source === 'key') return { source, prefix: null };
    const address = new DataView(new ArrayBuffer(16));
    for (let word = 0; word < 4; word++) address.setInt32(word * 4, this.words[at + 2 + word]!);
    const bytes = new Uint8Array(address.buffer);
    if (address.getInt32(0) === MAC_IDENTITY_WORD) return { source, prefix: macOfIdentity(bytes) };
    const text = addressToText(bytes);
    return { source, prefix: source === 'subnet' ? `${text}/${kind & 0xff}` : text };
  }

  private findIpv4(word: number): number {
    const { words, ipv4At } = this;
    let low = 0;
    let high = this.ipv4Count - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (words[ipv4At + middle]! <= word) low = middle;
      else high = middle - 1;
    }
    return words[ipv4At + this.ipv4Count + low]!;
  }

  private findIpv6(word0: number, word1: number, word2: number, word3: number): number {
    const { words, ipv6At } = this;
    let low = 0;
    let high = this.ipv6Count - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      const at = ipv6At + middle * L.IPV6_WORDS;
      if (this.startsAtOrBefore(at, word0, word1, word2, word3)) low = middle;
      else high = middle - 1;
    }
    return words[ipv6At + this.ipv6Count * L.IPV6_WORDS + low]!;
  }

  /** Compares the words directly, because their difference may not fit into a word. */
  private startsAtOrBefore(at: number, word0: number, word1: number, word2: number, word3: number): boolean {
    const { words } = this;
    if (words[at]! !== word0) return words[at]! < word0;
    if (words[at + 1]! !== word1) return words[at + 1]! < word1;
    if (words[at + 2]! !== word2) return words[at + 2]! < word2;
    return words[at + 3]! <= word3;
  }
}
