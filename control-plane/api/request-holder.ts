/** The caller of the current request, for per-user limits in code that routes only call indirectly. */
import { AsyncLocalStorage } from 'node:async_hooks';

const holders = new AsyncLocalStorage<string | null>();

/** Runs `work`, and everything that it starts, for a caller (`holderOf`). */
export function runFor<T>(holder: string | null, work: () => T): T {
  return holders.run(holder, work);
}

/** The caller of the current request; null outside requests, and if callers cannot be distinguished. */
export function requestHolder(): string | null {
  return holders.getStore() ?? null;
}
