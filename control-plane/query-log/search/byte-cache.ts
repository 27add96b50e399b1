/**
 * Cache of values by key with a limit in bytes; the least recently used value is evicted first. Values used in one of
 * the last rounds are not evicted, and a new value for which there is no space is not cached: without this rule, a scan
 * larger than the cache would evict each value just before the next scan needs it.
 */

/** Number of rounds for which a used value is not evicted. */
const ROUNDS_KEPT = 8;

interface Entry<T> {
  readonly value: T;
  bytes: number;
  usedIn: number;
}

/** Cache of values with a limit in bytes. */
export class ByteCache<T> {
  /** Index of the current round. */
  round = 0;
  private readonly entries = new Map<string, Entry<T>>();
  private readonly maxBytes: number;
  private bytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  beginRound(): void {
    this.round++;
  }

  get(key: string): T | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    // The map is in order of last use; the order within a round does not matter.
    if (entry.usedIn !== this.round) {
      entry.usedIn = this.round;
      this.entries.delete(key);
      this.entries.set(key, entry);
    }
    return entry.value;
  }

  /** Stores a value and replaces an earlier value of the key; returns whether there was space. */
  put(key: string, value: T, bytes: number): boolean {
    this.delete(key);
    if (!this.makeRoom(bytes)) return false;
    this.entries.set(key, { value, bytes, usedIn: this.round });
    this.bytes += bytes;
    return true;
  }

  /** Records that a value has grown; false if there is not enough space. */
  enlarge(key: string, bytes: number): boolean {
    const entry = this.entries.get(key);
    if (entry === undefined || !this.makeRoom(bytes)) return false;
    entry.bytes += bytes;
    this.bytes += bytes;
    return true;
  }

  clear(): void {
    this.entries.clear();
    this.bytes = 0;
  }

  private makeRoom(bytes: number): boolean {
    for (const [key, { usedIn }] of this.entries) {
      if (this.bytes + bytes <= this.maxBytes) return true;
      if (this.round - usedIn < ROUNDS_KEPT) return false;
      this.delete(key);
    }
    return this.bytes + bytes <= this.maxBytes;
  }

  private delete(key: string): void {
    this.bytes -= this.entries.get(key)?.bytes ?? 0;
    this.entries.delete(key);
  }
}
