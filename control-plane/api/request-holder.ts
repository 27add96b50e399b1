/** The holder of the current request, for limits per user deep below the routes. */
import { AsyncLocalStorage } from 'node:async_hooks';

const holders = new AsyncLocalStorage<string | null>();

/** Runs `work`, and what it starts, for a holder (`holderOf`). */
export function runFor<T>(holder: string | null, work: () => T): T {
  return holders.run(holder, work);
}

/** The holder of the current request; null outside of requests, and for callers that cannot be distinguished. */
export function requestHolder(): string | null {
  return holders.getStore() ?? null;
}
