/**
 * Whose password is checked first, and how long an account under attack makes a login wait. A flood of wrong passwords
 * from many addresses must not keep the owner out, and a right password always counts. What is known here is of this
 * node, in memory, and bounded; the lockout of an address is in the database (`login-failure-store.ts`).
 */
import type { Clock } from '../../../shared/clock.ts';

/** Rank of an address from which a login has succeeded; lower goes first. Other ranks are counts of failures. */
export const PROVEN = -1;

/** Entries of each table; beyond it the one that is unused for the longest time goes. */
const MOST_ENTRIES = 4096;
/** Failures of an account from all addresses that slow nothing down. */
const FREE_FAILURES = 20;
const DELAY_MS_EACH = 20;
/** The longest wait; an address without failures waits half as long. */
const MOST_DELAY_MS = 800;

/** What is known of addresses and accounts within the window of the lockout. */
export class LoginPace {
  private readonly clock: Clock;
  private readonly windowMs: () => number;
  private readonly ranks = new RecentCounts();
  private readonly accounts = new RecentCounts();

  constructor(clock: Clock, windowMs: () => number) {
    this.clock = clock;
    this.windowMs = windowMs;
  }

  /** Place of an address in the queue. */
  rankOf(address: string): number {
    return this.ranks.get(address, this.sinceMs());
  }

  /** Milliseconds that a login waits before its password is checked. */
  delayMs(username: string, address: string): number {
    const rank = this.rankOf(address);
    if (rank === PROVEN) return 0;
    const excess = this.accounts.get(username, this.sinceMs()) - FREE_FAILURES;
    const delayMs = Math.min(MOST_DELAY_MS, Math.max(0, excess) * DELAY_MS_EACH);
    return rank === 0 ? delayMs / 2 : delayMs;
  }

  noteFailure(username: string, address: string): void {
    const nowMs = this.clock.monotonicMs();
    const sinceMs = this.sinceMs();
    this.accounts.set(username, this.accounts.get(username, sinceMs) + 1, nowMs);
    // An address that was proven keeps its place: someone mistypes there.
    const rank = this.ranks.get(address, sinceMs);
    if (rank !== PROVEN) this.ranks.set(address, rank + 1, nowMs);
  }

  noteSuccess(address: string): void {
    // Longer than any window.
    this.ranks.set(address, PROVEN, Infinity);
  }

  private sinceMs(): number {
    return this.clock.monotonicMs() - this.windowMs();
  }
}

/** Counts that are forgotten when they are old. */
class RecentCounts {
  private readonly counts = new Map<string, { readonly count: number; readonly atMs: number }>();

  get(key: string, sinceMs: number): number {
    const found = this.counts.get(key);
    return found === undefined || found.atMs < sinceMs ? 0 : found.count;
  }

  set(key: string, count: number, atMs: number): void {
    this.counts.delete(key);
    this.counts.set(key, { count, atMs });
    if (this.counts.size > MOST_ENTRIES) this.counts.delete(this.counts.keys().next().value!);
  }
}
