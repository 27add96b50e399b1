/**
 * Identical requests within a second share one result, so that several dashboards cost no more than one. The same
 * request is never run twice at the same time: callers that come later than a second after its start share one further
 * run, which follows the first. A run is cancelled when no caller waits for it any more.
 */

/**
 * Milliseconds after the start of a run during which other callers share its result: no result is older than the
 * request by more than this.
 */
const SHARED_MS = 1000;

interface Shared {
  readonly answer: Promise<unknown>;
  readonly giveUp: AbortController;
  callers: number;
}

/** Shared results: those of the last second and those in progress. */
export class SharedAnswers {
  private readonly shared = new Map<string, Shared>();
  /** For each key with a run in progress: the end of its latest run. */
  private readonly lastEnds = new Map<string, Promise<void>>();

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
    const start = (): Promise<unknown> => {
      giveUp.signal.throwIfAborted();
      setTimeout(() => this.remove(key, shared), SHARED_MS).unref();
      return work(giveUp.signal);
    };
    const before = this.lastEnds.get(key);
    const answer = before === undefined ? Promise.try(start) : before.then(start);
    const shared: Shared = { answer, giveUp, callers: 0 };
    this.shared.set(key, shared);
    answer.catch(() => this.remove(key, shared));
    const stopped = new Promise((resolve) =>
      giveUp.signal.addEventListener('abort', resolve, { once: true }),
    );
    const last = Promise.race([Promise.allSettled([answer]), stopped]).then(() => {
      if (this.lastEnds.get(key) === last) this.lastEnds.delete(key);
    });
    this.lastEnds.set(key, last);
    return shared;
  }

  private end(key: string, shared: Shared): void {
    this.remove(key, shared);
    shared.giveUp.abort();
  }

  private remove(key: string, shared: Shared): void {
    if (this.shared.get(key) === shared) this.shared.delete(key);
  }
}
