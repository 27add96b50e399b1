/**
 * Limits how fast a client network may send requests: the web as a whole (`web/edge/request-limits.ts`), and single
 * public routes. Bounded, in memory of this node.
 */
import type { Clock } from '../../shared/clock.ts';
import { clientNetwork } from '../../shared/net/client-network.ts';
import { tooMany } from './api-error.ts';

/** Maximum number of networks in memory; the least recently active one is evicted first. */
const MAX_NETWORKS = 10_000;

/** Allowed requests of a network. */
export interface RequestRate {
  readonly perSecond: number;
  /** Requests at once after a pause. */
  readonly burst: number;
}

/** Counts by network: IPv4 by address, IPv6 by /64. */
export class RequestLimit {
  private readonly clock: Clock;
  private readonly costMs: number;
  private readonly burstMs: number;
  /** When the whole burst is free again, on the monotonic clock. The network that asked last is the last. */
  private readonly freeAtMs = new Map<string, number>();

  constructor(clock: Clock, { perSecond, burst }: RequestRate) {
    this.clock = clock;
    this.costMs = 1000 / perSecond;
    this.burstMs = this.costMs * burst;
  }

  /** Counts a request of `address`; 429 if it is one too many, which is not counted. */
  spend(address: string): void {
    const waitMs = this.waitMsFor(address);
    if (waitMs > 0) throw tooMany('rate_limited', 'too many requests of this address', waitMs / 1000);
  }

  /** Counts one thing of `address`; false if it is one too many, which is not counted. */
  takes(address: string): boolean {
    return this.waitMsFor(address) === 0;
  }

  /** Milliseconds until one more is let through; 0 = it is, and is counted. */
  private waitMsFor(address: string): number {
    const nowMs = this.clock.monotonicMs();
    const network = clientNetwork(address);
    const freeAtMs = Math.max(nowMs, this.freeAtMs.get(network) ?? nowMs);
    const waitMs = freeAtMs + this.costMs - this.burstMs - nowMs;
    // Far less than a request: the sum of many costs is not exact.
    const isTooMany = waitMs > 0.001;
    this.freeAtMs.delete(network);
    this.freeAtMs.set(network, isTooMany ? freeAtMs : freeAtMs + this.costMs);
    if (this.freeAtMs.size > MAX_NETWORKS) this.freeAtMs.delete(this.freeAtMs.keys().next().value!);
    return isTooMany ? waitMs : 0;
  }
}
