/**
 * Finds the row of the open block that represents a rate-limited query: the first row of the same client network and
 * second. With one row per query, a flood from a client could fill the log.
 */
import { IPV4_PREFIX_BITS, masksOf } from '../../../shared/net/cidr.ts';
import { addressWord, isMappedIpv4 } from '../../../shared/net/ip.ts';
import type { QueryLogRow } from '../rows/row.ts';
import { MAX_BLOCK_ROWS } from '../block/block-layout.ts';
import { WordDictionary } from '../block/word-dictionary.ts';

/** Prefix lengths of the networks to which the rate limit applies: `ipv4_prefix_len` and `ipv6_prefix_len`. */
export interface NetworkPrefixes {
  readonly ipv4PrefixLength: number;
  readonly ipv6PrefixLength: number;
}

/** Microseconds per second. */
const SECOND_US = 1_000_000;
/** Third 32-bit word of an IPv4 address in the form ::ffff:a.b.c.d. */
const MAPPED = 0xffff;
const IPV4_SIZE = 4;

/** The networks of one block, at most as many as it has rows. */
export class LimitedNetworks {
  private readonly prefixes: () => NetworkPrefixes;
  private readonly seconds = new WordDictionary();
  private readonly firstRows = new Uint16Array(MAX_BLOCK_ROWS);
  private known: NetworkPrefixes = { ipv4PrefixLength: -1, ipv6PrefixLength: -1 };
  private ipv4Masks = masksOf(0);
  private ipv6Masks = masksOf(0);

  /** `prefixes` is called for every query. */
  constructor(prefixes: () => NetworkPrefixes) {
    this.prefixes = prefixes;
  }

  /**
   * Index of the row that represents a query; -1 if the query is the first of its network and second, so that the
   * caller must add it as row `nextRow`.
   */
  find(row: QueryLogRow, timestampUs: number, nextRow: number): number {
    this.follow(this.prefixes());
    const { seconds } = this;
    const known = seconds.size;
    // The second fits in an i32 for this lookup, because all rows of a block are from the same hour.
    const place = this.placeOf(row, Math.floor(timestampUs / SECOND_US) | 0);
    if (seconds.size === known) return this.firstRows[place]!;
    this.firstRows[place] = nextRow;
    return -1;
  }

  /** Removes all networks; called at the end of a block. */
  clear(): void {
    if (this.seconds.size > 0) this.seconds.clear();
  }

  private placeOf({ bytes, client: { at, length } }: QueryLogRow, second: number): number {
    const { seconds, ipv4Masks, ipv6Masks } = this;
    if (length === IPV4_SIZE)
      return seconds.place(0, 0, MAPPED, addressWord(bytes, at) & ipv4Masks[3]!, second);
    const masks = isMappedIpv4(bytes, at) ? ipv4Masks : ipv6Masks;
    return seconds.place(
      addressWord(bytes, at) & masks[0]!,
      addressWord(bytes, at + 4) & masks[1]!,
      addressWord(bytes, at + 8) & masks[2]!,
      addressWord(bytes, at + 12) & masks[3]!,
      second,
    );
  }

  private follow(prefixes: NetworkPrefixes): void {
    const { ipv4PrefixLength, ipv6PrefixLength } = prefixes;
    const { known } = this;
    if (ipv4PrefixLength === known.ipv4PrefixLength && ipv6PrefixLength === known.ipv6PrefixLength) return;
    this.known = { ipv4PrefixLength, ipv6PrefixLength };
    this.ipv4Masks = masksOf(IPV4_PREFIX_BITS + ipv4PrefixLength);
    this.ipv6Masks = masksOf(ipv6PrefixLength);
  }
}
