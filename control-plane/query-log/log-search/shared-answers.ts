/**
 * Identical requests within a second share one answer, so that several dashboards cost as much as one. Work that no
 * caller waits for is cancelled.
 */

/**
 * Milliseconds after the start of work in which other callers share it: no answer is older than its request by more.
 */
const SHARED_MS = 1000;

interface Shared {
  readonly answer: Promise<unknown>;
  readonly giveUp: AbortController;
  callers: number;
}

/** The answers of the last second, and those in progress. */
export class SharedAnswers {
  private readonly shared = new Map<string, Shared>();

  /** The result of `work`, or of an earlier call with the same key; rejects when `signal` is aborted. */
  async ask<T>(key: string, work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const shared = this.shared.get(key) ?? this.begin(key, work);
    const aborted = Promise.withResolvers<never>();
    const onAbort = (): void => aborted.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    shared.callers++;
    try {
      return (await Promise.race([shared.answer, aborted.promise])) as T;
    } finally {
      signal.removeEventListener('abort', onAbort);
      shared.callers--;
      if (shared.callers === 0 && signal.aborted) this.end(key, shared);
    }
  }

  private begin(key: string, work: (signal: AbortSignal) => Promise<unknown>): Shared {
    const giveUp = new AbortController();
    const shared: Shared = { answer: work(giveUp.signal), giveUp, callers: 0 };
    this.shared.set(key, shared);
    setTimeout(() => this.forget(key, shared), SHARED_MS).unref();
    shared.answer.catch(() => this.forget(key, shared));
    return shared;
  }

  private end(key: string, shared: Shared): void {
    this.forget(key, shared);
    shared.giveUp.abort();
  }

  private forget(key: string, shared: Shared): void {
    if (this.shared.get(key) === shared) this.shared.delete(key);
  }
}
