/** How many requests a client network may send to a public route in a minute. Bounded, in memory of this node. */
import type { Clock } from '../../shared/clock.ts';
import { clientNetwork } from '../../shared/net/client-network.ts';
import { tooMany } from '../api/api-error.ts';

const MINUTE_MS = 60_000;
/** Most networks that are counted at once. */
const MAX_NETWORKS = 10_000;

/** Counts by network; all counts begin again each minute. */
export class RequestBudget {
  private readonly clock: Clock;
  private readonly aMinute: number;
  private readonly spent = new Map<string, number>();
  private endsAtMs = 0;

  constructor(clock: Clock, aMinute: number) {
    this.clock = clock;
    this.aMinute = aMinute;
  }

  /** Counts a request of `address`; 429 if it is one too many. */
  spend(address: string): void {
    const nowMs = this.clock.monotonicMs();
    if (nowMs >= this.endsAtMs) {
      this.endsAtMs = nowMs + MINUTE_MS;
      this.spent.clear();
    }
    const network = clientNetwork(address);
    const spent = this.spent.get(network) ?? 0;
    if (spent >= this.aMinute || (spent === 0 && this.spent.size >= MAX_NETWORKS))
      throw tooMany('busy', `more than ${this.aMinute} requests in a minute`, (this.endsAtMs - nowMs) / 1000);
    this.spent.set(network, spent + 1);
  }
}
