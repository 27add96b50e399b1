/**
 * Sums by key in bounded memory: a flood of random names must not cost the process that answers. Beyond the bound the
 * keys with the smallest sums go, so the largest stay, and the number of keys becomes an estimate (linear counting, Whang
 * 1990).
 */

/** Keys that are kept: some 30 MB of names. */
const MOST_KEYS = 200_000;
/** Bits of the estimate, 512 KiB: a few tenths of a percent off up to some ten million keys. */
const ESTIMATE_BITS = 1 << 22;

/** A map that makes and forgets sums by itself. */
export class BoundedSums<Sum> extends Map<string, Sum> {
  private readonly make: () => Sum;
  private readonly weightOf: (sum: Sum) => number;
  private readonly most: number;
  private bits: Uint8Array | undefined;
  private bitCount = 0;

  constructor(make: () => Sum, weightOf: (sum: Sum) => number, most = MOST_KEYS) {
    super();
    this.make = make;
    this.weightOf = weightOf;
    this.most = most;
  }

  /** The sum of a key, a new one if there is none. */
  sumOf(key: string): Sum {
    const known = this.get(key);
    if (known !== undefined) return known;
    if (this.size >= this.most) this.forgetSmall();
    if (this.bits !== undefined) this.note(key);
    const sum = this.make();
    this.set(key, sum);
    return sum;
  }

  /** Whether keys were forgotten: sums may be too small, and `distinct` is an estimate. */
  get isEstimate(): boolean {
    return this.bits !== undefined;
  }

  /** Number of different keys there have been. */
  get distinct(): number {
    if (this.bits === undefined) return this.size;
    const free = Math.max(ESTIMATE_BITS - this.bitCount, 1);
    return Math.max(this.size, Math.round(ESTIMATE_BITS * Math.log(ESTIMATE_BITS / free)));
  }

  private forgetSmall(): void {
    if (this.bits === undefined) {
      this.bits = new Uint8Array(ESTIMATE_BITS >>> 3);
      for (const key of this.keys()) this.note(key);
    }
    for (let weight = 1; this.size > this.most / 2; weight *= 2) {
      for (const [key, sum] of this) if (this.weightOf(sum) <= weight) this.delete(key);
    }
  }

  private note(key: string): void {
    const bit = hashOf(key) & (ESTIMATE_BITS - 1);
    const mask = 1 << (bit & 7);
    if ((this.bits![bit >>> 3]! & mask) !== 0) return;
    this.bits![bit >>> 3]! |= mask;
    this.bitCount++;
  }
}

function hashOf(text: string): number {
  let lane = text.length;
  for (let i = 0; i < text.length; i++) {
    lane = Math.imul(lane ^ text.charCodeAt(i), 0x9e3779b1);
    lane ^= lane >>> 15;
  }
  lane = Math.imul(lane, 0x85ebca77);
  return (lane ^ (lane >>> 13)) >>> 0;
}
