/** Who holds the request that is being handled, for limits of each user far below the routes. */
import { AsyncLocalStorage } from 'node:async_hooks';

const holders = new AsyncLocalStorage<string | null>();

/** Runs `work`, and what it starts, for a holder (`holderOf`). */
export function runFor<T>(holder: string | null, work: () => T): T {
  return holders.run(holder, work);
}

/** The holder of the request that is being handled; null outside of requests, and for callers whom nothing tells apart. */
export function requestHolder(): string | null {
  return holders.getStore() ?? null;
}
