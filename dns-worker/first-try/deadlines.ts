/**
 * A timing wheel over typed arrays: the cost of adding, removing and expiring does not depend on the number of entries.
 */

/** Precision of the deadlines, in milliseconds. */
const TICK_MS = 4;
/** Ticks of one turn of the wheel, a power of two. Later deadlines expire at the end of the turn. */
const TICKS = 512;
const NONE = -1;

/** Deadlines of numbered entries. */
export class Deadlines {
  /** First entry of each tick; for each entry, the next entry, the previous entry, and its tick. */
  private readonly first = new Int32Array(TICKS).fill(NONE);
  private readonly next: Int32Array;
  private readonly before: Int32Array;
  private readonly tickOf: Int32Array;
  /** The tick that expires next, counted from 0 at time 0. */
  private now: number;
  private size = 0;

  /** Entries are numbers below `capacity`. All times are milliseconds of the same clock. */
  constructor(capacity: number, nowMs: number) {
    this.next = new Int32Array(capacity).fill(NONE);
    this.before = new Int32Array(capacity).fill(NONE);
    this.tickOf = new Int32Array(capacity).fill(NONE);
    this.now = Math.floor(nowMs / TICK_MS);
  }

  /** Whether there are no deadlines. */
  get isEmpty(): boolean {
    return this.size === 0;
  }

  /** Adds a deadline for an entry that has none. */
  add(entry: number, nowMs: number, inMs: number): void {
    const now = Math.floor(nowMs / TICK_MS);
    if (this.size === 0) this.now = now;
    // Skip the ticks of a long pause, so that the whole wheel is available for the new entry.
    else this.skipEmpty(now);
    const latest = this.now + TICKS - 1;
    const wanted = Math.max(this.now, Math.ceil((nowMs + inMs) / TICK_MS));
    const tick = Math.min(latest, wanted) & (TICKS - 1);
    const first = this.first[tick]!;
    this.tickOf[entry] = tick;
    this.next[entry] = first;
    this.before[entry] = NONE;
    if (first !== NONE) this.before[first] = entry;
    this.first[tick] = entry;
    this.size++;
  }

  /** Removes the entry's deadline, if it has one. */
  remove(entry: number): void {
    const tick = this.tickOf[entry]!;
    if (tick === NONE) return;
    const next = this.next[entry]!;
    const before = this.before[entry]!;
    if (before === NONE) this.first[tick] = next;
    else this.next[before] = next;
    if (next !== NONE) this.before[next] = before;
    this.tickOf[entry] = NONE;
    this.size--;
  }

  /** Removes one expired entry and returns it; -1 = there is none. */
  expired(nowMs: number): number {
    if (this.size === 0) return NONE;
    const end = Math.floor(nowMs / TICK_MS) + 1;
    this.skipEmpty(end);
    if (this.now >= end) return NONE;
    const entry = this.first[this.now & (TICKS - 1)]!;
    this.remove(entry);
    return entry;
  }

  /** Milliseconds until the next deadline, rounded up; Infinity = there is none. */
  untilNextMs(nowMs: number): number {
    if (this.size === 0) return Infinity;
    let tick = this.now;
    while (this.first[tick & (TICKS - 1)] === NONE) tick++;
    return Math.max(0, Math.ceil(tick * TICK_MS - nowMs));
  }

  /** Advances to the next tick with an entry, but not beyond `end`. */
  private skipEmpty(end: number): void {
    while (this.now < end && this.first[this.now & (TICKS - 1)] === NONE) this.now++;
  }
}
