/**
 * Decides whose password is checked first, and how long a login waits for an account under attack. A flood of wrong
 * passwords from many addresses must not keep the owner out, and a correct password is always accepted. This data is
 * per node, in memory, and limited; the lockout of an address is in the database (`login-failure-store.ts`).
 */
import type { Clock } from '../../../shared/clock.ts';
import { widerNetwork } from '../../../shared/net/client-network.ts';

/**
 * Rank of an address from which a login has succeeded; lower goes first. All other ranks are the number of failures of
 * the address, plus a fraction for failures from the rest of its network, because some attackers can use each address
 * only once.
 */
export const PROVEN = -1;

/** Maximum number of entries of each table; beyond it, the least recently used one is evicted. */
const MAX_ENTRIES = 4096;
/** Number of failures of an account from all addresses that do not cause a delay. */
const FREE_FAILURES = 20;
const DELAY_MS_EACH = 20;
/** Maximum delay; half of it for an address without failures, and a quarter if its network has none. */
const MAX_DELAY_MS = 800;
/**
 * Number of failures and checks of a network that do not affect its other addresses, and the number at which the
 * fraction is largest.
 */
const FREE_OF_NETWORK = 8;
const MAX_OF_NETWORK = 1000;
/** Delay of the logins that follow a refusal by a lockout within `LOCKED_RECENTLY_MS`. */
const LOCKED_DELAY_MS = 1000;
const LOCKED_RECENTLY_MS = 5000;

/** Recent logins by address and account, within the window of the lockout. */
export class LoginPace {
  private readonly clock: Clock;
  private readonly windowMs: () => number;
  private readonly ranks = new RecentCounts();
  private readonly networks = new RecentCounts();
  private readonly accounts = new RecentCounts();
  /** Refusals by a lockout, by account and address. */
  private readonly refusals = new RecentCounts();
  /** Number of logins that are being checked, by network. */
  private readonly underWay = new Map<string, number>();

  constructor(clock: Clock, windowMs: () => number) {
    this.clock = clock;
    this.windowMs = windowMs;
  }

  /** Priority of an address in the queue. */
  rankOf(address: string): number {
    const sinceMs = this.sinceMs();
    const rank = this.ranks.get(address, sinceMs);
    if (rank === PROVEN) return rank;
    const network = widerNetwork(address);
    const ofNetwork = this.networks.get(network, sinceMs) + (this.underWay.get(network) ?? 0);
    if (ofNetwork < FREE_OF_NETWORK) return rank;
    return rank + Math.min(ofNetwork, MAX_OF_NETWORK) / (MAX_OF_NETWORK + 1);
  }

  /** Milliseconds that a login waits before its password is checked. */
  delayMs(username: string, address: string): number {
    const rank = this.rankOf(address);
    if (rank === PROVEN) return 0;
    const excess = this.accounts.get(username, this.sinceMs()) - FREE_FAILURES;
    const delayMs = Math.min(MAX_DELAY_MS, Math.max(0, excess) * DELAY_MS_EACH);
    if (rank === 0) return delayMs / 4;
    return rank < 1 ? delayMs / 2 : delayMs;
  }

  /** Counts a login among the logins of its network; returns a function that must be called when the login ends. */
  begin(address: string): () => void {
    const network = widerNetwork(address);
    const step = (by: 1 | -1): void => {
      const count = (this.underWay.get(network) ?? 0) + by;
      if (count === 0) this.underWay.delete(network);
      else this.underWay.set(network, count);
    };
    step(1);
    return () => step(-1);
  }

  noteFailure(username: string, address: string): void {
    const nowMs = this.clock.monotonicMs();
    const sinceMs = this.sinceMs();
    this.accounts.set(username, this.accounts.get(username, sinceMs) + 1, nowMs);
    // A proven address keeps its rank, because its user may have mistyped the password.
    const rank = this.ranks.get(address, sinceMs);
    if (rank === PROVEN) return;
    this.ranks.set(address, rank + 1, nowMs);
    const network = widerNetwork(address);
    this.networks.set(network, this.networks.get(network, sinceMs) + 1, nowMs);
  }

  noteSuccess(address: string): void {
    // With this time, the entry never expires.
    this.ranks.set(address, PROVEN, Infinity);
  }

  /**
   * Milliseconds to wait before the lockout of a login is looked up. Callers that continue although they are locked out
   * must not keep the control plane and the database busy.
   */
  lockedDelayMs(username: string, address: string): number {
    const sinceMs = this.clock.monotonicMs() - LOCKED_RECENTLY_MS;
    return this.refusals.get(refusalKey(username, address), sinceMs) === 0 ? 0 : LOCKED_DELAY_MS;
  }

  noteLocked(username: string, address: string): void {
    this.refusals.set(refusalKey(username, address), 1, this.clock.monotonicMs());
  }

  private sinceMs(): number {
    return this.clock.monotonicMs() - this.windowMs();
  }
}

/** The key is unambiguous, because callers cannot choose the text of an address. */
function refusalKey(username: string, address: string): string {
  return `${address} ${username}`;
}

/** Counts that expire. */
class RecentCounts {
  private readonly counts = new Map<string, { readonly count: number; readonly atMs: number }>();

  get(key: string, sinceMs: number): number {
    const found = this.counts.get(key);
    return found === undefined || found.atMs < sinceMs ? 0 : found.count;
  }

  set(key: string, count: number, atMs: number): void {
    this.counts.delete(key);
    this.counts.set(key, { count, atMs });
    if (this.counts.size > MAX_ENTRIES) this.counts.delete(this.counts.keys().next().value!);
  }
}
