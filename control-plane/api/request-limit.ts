/**
 * Limits the request rate of each client network, for the whole web server (`web/edge/request-limits.ts`) and for some
 * public routes. The counts are only in the memory of this node, and their number is limited.
 */
import type { Clock } from '../../shared/clock.ts';
import { clientNetwork } from '../../shared/net/client-network.ts';
import { tooMany } from './api-error.ts';

/** Maximum number of networks in memory; the least recently active one is evicted first. */
const MAX_NETWORKS = 10_000;

/** Allowed request rate of a network. */
export interface RequestRate {
  readonly perSecond: number;
  /** Number of requests that are allowed at once after a pause. */
  readonly burst: number;
}

/** Counts by network: IPv4 by address, IPv6 by /64. */
export class RequestLimit {
  private readonly clock: Clock;
  private readonly costMs: number;
  private readonly burstMs: number;
  /**
   * By network: the time on the monotonic clock at which the whole burst is available again. The network with the
   * latest request is last.
   */
  private readonly freeAtMs = new Map<string, number>();

  constructor(clock: Clock, { perSecond, burst }: RequestRate) {
    this.clock = clock;
    this.costMs = 1000 / perSecond;
    this.burstMs = this.costMs * burst;
  }

  /** Counts a request of `address`; throws 429 if the request exceeds the limit, in which case it is not counted. */
  spend(address: string): void {
    const waitMs = this.waitMsFor(address);
    if (waitMs > 0) throw tooMany('rate_limited', 'too many requests from this address', waitMs / 1000);
  }

  /** Counts one event of `address`; false if the event exceeds the limit, in which case it is not counted. */
  takes(address: string): boolean {
    return this.waitMsFor(address) === 0;
  }

  /** Milliseconds until another event is allowed; 0 = the event is allowed now and was counted. */
  private waitMsFor(address: string): number {
    const nowMs = this.clock.monotonicMs();
    const network = clientNetwork(address);
    const freeAtMs = Math.max(nowMs, this.freeAtMs.get(network) ?? nowMs);
    const waitMs = freeAtMs + this.costMs - this.burstMs - nowMs;
    // The tolerance is for rounding errors, which add up; it is far less than the cost of one request.
    const isTooMany = waitMs > 0.001;
    this.freeAtMs.delete(network);
    this.freeAtMs.set(network, isTooMany ? freeAtMs : freeAtMs + this.costMs);
    if (this.freeAtMs.size > MAX_NETWORKS) this.freeAtMs.delete(this.freeAtMs.keys().next().value!);
    return isTooMany ? waitMs : 0;
  }
}
