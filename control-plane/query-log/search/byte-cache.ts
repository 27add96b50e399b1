/**
 * Values by key within a bound of bytes, least recently used first to go. What was used in one of the last rounds stays,
 * and a value that finds no room is not kept: else a scan of more than fits would push out each value just before it
 * is asked for again.
 */

/** Rounds for which a value that was used is not given up. */
const ROUNDS_KEPT = 8;

interface Entry<T> {
  readonly value: T;
  bytes: number;
  usedIn: number;
}

/** The cache. */
export class ByteCache<T> {
  /** Number of the round. */
  round = 0;
  private readonly entries = new Map<string, Entry<T>>();
  private readonly mostBytes: number;
  private bytes = 0;

  constructor(mostBytes: number) {
    this.mostBytes = mostBytes;
  }

  beginRound(): void {
    this.round++;
  }

  get(key: string): T | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    // The order of the map is that of use; within a round it does not matter.
    if (entry.usedIn !== this.round) {
      entry.usedIn = this.round;
      this.entries.delete(key);
      this.entries.set(key, entry);
    }
    return entry.value;
  }

  /** Keeps a value in the place of what the key had; returns whether there was room. */
  put(key: string, value: T, bytes: number): boolean {
    this.delete(key);
    if (!this.makeRoom(bytes)) return false;
    this.entries.set(key, { value, bytes, usedIn: this.round });
    this.bytes += bytes;
    return true;
  }

  /** Notes that a value has grown; false if there is no room for that. */
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
      if (this.bytes + bytes <= this.mostBytes) return true;
      if (this.round - usedIn < ROUNDS_KEPT) return false;
      this.delete(key);
    }
    return this.bytes + bytes <= this.mostBytes;
  }

  private delete(key: string): void {
    this.bytes -= this.entries.get(key)?.bytes ?? 0;
    this.entries.delete(key);
  }
}
