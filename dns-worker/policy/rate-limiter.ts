/**
 * Token buckets of client networks, in memory that all threads share. A bucket is one number, the time at which it will
 * be full again: each query advances this time by one interval, and exceeds the limit if the time is then more than a
 * whole burst ahead. Two threads that update one bucket at the same time may count two queries as one; the limit gets
 * slightly wider, and no answer is lost.
 *
 * A network has two buckets of the same size, so that queries with a proven address (`hasProvenAddress`) are not
 * affected by queries with a forged address.
 */
import { masksOf } from '../../shared/net/cidr.ts';
import { addressFromText, addressWord, isMappedIpv4 } from '../../shared/net/ip.ts';
import { Protocol } from '../../shared/query-log.ts';
import { RateBucketLayout as L } from '../../shared/memory/rate-buckets.ts';
import { type RateLimitSettings } from '../../shared/policy/rate-limit-settings.ts';
import type { Query } from '../query/query.ts';

const BUCKET_MASK = L.BUCKETS - 1;
const FACTOR = 0x9e3779b1 | 0;
const BUCKET_WORDS = L.BUCKET_BYTES >>> 2;
const BUCKET_DOUBLES = L.BUCKET_BYTES >>> 3;

/** A network: the four words of its address, and their masks. */
interface Network {
  readonly words: Int32Array;
  readonly masks: Int32Array;
}

/** Whether the client has proven its address: it received a packet there. */
export function hasProvenAddress(query: Query): boolean {
  return query.protocol !== Protocol.udp || query.hasValidCookie;
}

/** Counts queries and answers against the limits. Each thread has one. */
export class RateLimiter {
  readonly settings: RateLimitSettings;
  private readonly head: Int32Array;
  private readonly words: Int32Array;
  private readonly doubles: Float64Array;
  private readonly seed: number;
  /**
   * Value that separates the buckets of proven addresses; secret, so that an attacker cannot choose a network that
   * collides.
   */
  private readonly provenMark: number;
  private readonly ipv4Masks: Int32Array;
  private readonly ipv6Masks: Int32Array;
  private readonly whitelist: readonly Network[];
  private readonly network = new Int32Array(4);

  constructor(memory: SharedArrayBuffer, settings: RateLimitSettings) {
    this.settings = settings;
    this.head = new Int32Array(memory, 0, L.HEAD_BYTES >>> 2);
    this.seed = this.head[L.SEED_WORD]!;
    this.provenMark = Math.imul(this.seed, FACTOR) | 1;
    this.words = new Int32Array(memory, L.HEAD_BYTES);
    this.doubles = new Float64Array(memory, L.HEAD_BYTES);
    this.ipv4Masks = masksOf(96 + settings.ipv4PrefixLength);
    this.ipv6Masks = masksOf(settings.ipv6PrefixLength);
    this.whitelist = settings.whitelist.map(networkOf).filter((network) => network !== null);
  }

  /** Counts a query; false if its network has used up its burst. */
  admitsQuestion(query: Query): boolean {
    const { queriesPerSecond, burstSize } = this.settings;
    return this.admits(query, L.QUESTIONS_DOUBLE, 1000 / queriesPerSecond, burstSize);
  }

  /** Counts an NXDOMAIN answer; false if its network is over the limit. */
  admitsNxdomain(query: Query): boolean {
    const { nxdomainPerSecond } = this.settings;
    return this.admits(query, L.NXDOMAIN_DOUBLE, 1000 / nxdomainPerSecond, nxdomainPerSecond);
  }

  /**
   * Whether to send this limited answer truncated, so that the client retries over TCP; decides by the count of limited
   * answers on the whole node.
   */
  slips(): boolean {
    const { slipRatio } = this.settings;
    if (slipRatio === 0) return false;
    return ((Atomics.add(this.head, L.LIMITED_WORD, 1) + 1) >>> 0) % slipRatio === 0;
  }

  private admits(query: Query, double: number, intervalMs: number, burst: number): boolean {
    if (!this.findNetwork(query)) return true;
    const { doubles } = this;
    const at = this.bucketOf() * BUCKET_DOUBLES + double;
    const nowMs = query.arrivedMonotonicMs;
    const fullAtMs = doubles[at]! > nowMs ? doubles[at]! : nowMs;
    // Tolerance for the rounding error of many added intervals: a hundredth of an interval.
    if (fullAtMs - nowMs > (burst - 0.99) * intervalMs) return false;
    doubles[at] = fullAtMs + intervalMs;
    return true;
  }

  /** Sets `network` to the key of the bucket; false for clients that are never limited. */
  private findNetwork(query: Query): boolean {
    const { network, whitelist } = this;
    const { clientBytes, clientAt } = query;
    for (let i = 0; i < 4; i++) network[i] = addressWord(clientBytes, clientAt + i * 4);
    for (let i = 0; i < whitelist.length; i++) if (isWithin(network, whitelist[i]!)) return false;
    const masks = isMappedIpv4(clientBytes, clientAt) ? this.ipv4Masks : this.ipv6Masks;
    for (let i = 0; i < 4; i++) network[i] = network[i]! & masks[i]!;
    if (hasProvenAddress(query)) network[0] = network[0]! ^ this.provenMark;
    return true;
  }

  /** Index of the network's bucket; if the network has none, replaces a full bucket, or the fullest in its set. */
  private bucketOf(): number {
    const { words, doubles, network } = this;
    let hash = this.seed;
    for (let i = 0; i < 4; i++) {
      hash = Math.imul(hash ^ network[i]!, FACTOR);
      hash ^= hash >>> 15;
    }
    const first = hash & BUCKET_MASK & ~(L.WAYS - 1);
    let fullest = first;
    let fullestAtMs = Infinity;
    for (let bucket = first; bucket < first + L.WAYS; bucket++) {
      const at = bucket * BUCKET_WORDS;
      if (
        words[at + 3] === network[3] &&
        words[at + 2] === network[2] &&
        words[at + 1] === network[1] &&
        words[at] === network[0]
      )
        return bucket;
      const fullAtMs = doubles[bucket * BUCKET_DOUBLES + L.QUESTIONS_DOUBLE]!;
      if (fullAtMs < fullestAtMs) {
        fullestAtMs = fullAtMs;
        fullest = bucket;
      }
    }
    for (let i = 0; i < 4; i++) words[fullest * BUCKET_WORDS + i] = network[i]!;
    doubles[fullest * BUCKET_DOUBLES + L.QUESTIONS_DOUBLE] = 0;
    doubles[fullest * BUCKET_DOUBLES + L.NXDOMAIN_DOUBLE] = 0;
    return fullest;
  }
}

function networkOf(cidr: string): Network | null {
  const [text = '', length = ''] = cidr.split('/');
  const address = addressFromText(text);
  if (address === null) return null;
  const masks = masksOf((text.includes(':') ? 0 : 96) + Number(length));
  return { words: masks.map((mask, i) => addressWord(address, i * 4) & mask), masks };
}

function isWithin(address: Int32Array, { words, masks }: Network): boolean {
  for (let i = 0; i < 4; i++) if ((address[i]! & masks[i]!) !== words[i]) return false;
  return true;
}
