/** Provides the caller of the current request to code that routes call only indirectly, for limits per user. */
import { AsyncLocalStorage } from 'node:async_hooks';

const holders = new AsyncLocalStorage<string | null>();

/** Runs `work`, and all asynchronous work that it starts, for a caller (`holderOf`). */
export function runFor<T>(holder: string | null, work: () => T): T {
  return holders.run(holder, work);
}

/** The caller of the current request; null outside requests, or if callers cannot be distinguished. */
export function requestHolder(): string | null {
  return holders.getStore() ?? null;
}
