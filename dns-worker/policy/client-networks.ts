/**
 * The network to which a client's queries count: its address truncated to the prefix lengths of `dns.rate_limit`. As
 * for the rate limit, queries with a proven address count separately from those whose source may be forged.
 */
import { addressWord, isMappedIpv4 } from '../../shared/net/ip.ts';
import { RateBucketLayout } from '../../shared/memory/rate-buckets.ts';
import { type RateLimitSettings } from '../../shared/policy/rate-limit-settings.ts';
import type { Query } from '../query/query.ts';
import { masksOf } from '../../shared/net/cidr.ts';
import { hasProvenAddress } from './rate-limiter.ts';

const FACTOR = 0x9e3779b1 | 0;

/** Identifies the networks of clients. */
export class ClientNetworks {
  private readonly ipv4Masks: Int32Array;
  private readonly ipv6Masks: Int32Array;
  private readonly seed: number;
  /** The words of the last network found, whether its address was proven, and its key. */
  private readonly last = new Int32Array(5);
  private lastKey = '';

  /** `rateBuckets` has a secret seed, so that an attacker cannot choose addresses with another network's hash. */
  constructor(
    rateBuckets: SharedArrayBuffer,
    prefixes: Pick<RateLimitSettings, 'ipv4PrefixLength' | 'ipv6PrefixLength'>,
  ) {
    this.seed = new Int32Array(rateBuckets)[RateBucketLayout.SEED_WORD]!;
    this.ipv4Masks = masksOf(96 + prefixes.ipv4PrefixLength);
    this.ipv6Masks = masksOf(prefixes.ipv6PrefixLength);
  }

  /** A 32-bit hash of the client's network. */
  hash(query: Query): number {
    const { clientBytes: client, clientAt: at } = query;
    const masks = isMappedIpv4(client, at) ? this.ipv4Masks : this.ipv6Masks;
    let hash = this.seed;
    for (let i = 0; i < 4; i++) {
      hash = Math.imul(hash ^ (addressWord(client, at + i * 4) & masks[i]!), FACTOR);
      hash ^= hash >>> 15;
    }
    return hasProvenAddress(query) ? ~hash : hash;
  }

  /** Text that identifies the network: equal only for queries that count together. Never empty. */
  key(query: Query): string {
    const { clientBytes: client, clientAt: at } = query;
    const masks = isMappedIpv4(client, at) ? this.ipv4Masks : this.ipv6Masks;
    const { last } = this;
    const isProven = hasProvenAddress(query) ? 1 : 0;
    // Consecutive queries are often from the same network: compare with the last network first.
    let isLast = last[4] === isProven && this.lastKey !== '';
    last[4] = isProven;
    for (let i = 0; i < 4; i++) {
      const word = addressWord(client, at + i * 4) & masks[i]!;
      isLast &&= last[i] === word;
      last[i] = word;
    }
    if (!isLast) this.lastKey = last.join();
    return this.lastKey;
  }
}
