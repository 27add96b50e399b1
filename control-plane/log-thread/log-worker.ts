/**
 * The control plane's side of one log thread: starts it, sends requests, and ends it. `query-log-thread.ts` replaces a
 * thread that has ended.
 */
import { Worker } from 'node:worker_threads';
import type { FromLog, LogRequest, LogThreadStart, ToLog } from './log-messages.ts';

/** Callbacks for the owner of a thread. */
export interface LogWorkerEvents {
  /** Called for every message that is not the reply to a request. */
  readonly message: (message: FromLog) => void;
  /** Called once when the thread has ended; `cause` is its error, if known. */
  readonly ended: (exitCode: number, cause: Error | undefined) => void;
}

type TailRows = Extract<FromLog, { type: 'tail-rows' }>;
type Settle = (answer: TailRows | null) => void;

const ENTRY = new URL('./log-thread.ts', import.meta.url);
/** Name of the thread, which the kernel also shows. */
export const LOG_THREAD = 'query-log';
/** Maximum young generation in MiB; kept small, because blocks are outside the heap. */
const YOUNG_GENERATION_MIB = 8;

/** A running log thread. */
export class LogWorker {
  /** `performance.now()` at the start of the thread. */
  readonly startedAtMs = performance.now();
  private readonly worker: Worker;
  private readonly pending = new Map<number, Settle>();
  private readonly exited = Promise.withResolvers<undefined>();
  private lastId = 0;
  private hasEnded = false;

  constructor(start: LogThreadStart, events: LogWorkerEvents) {
    this.worker = new Worker(ENTRY, {
      workerData: start,
      name: LOG_THREAD,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    });
    let cause: Error | undefined;
    this.worker.on('message', (message: FromLog) => {
      if (message.type === 'done') this.pending.get(message.id)?.(null);
      else if (message.type === 'tail-rows') this.pending.get(message.id)?.(message);
      else events.message(message);
    });
    this.worker.on('error', (error: unknown) => {
      cause = error instanceof Error ? error : new Error(String(error));
    });
    this.worker.on('exit', (exitCode) => {
      this.hasEnded = true;
      for (const settle of this.pending.values()) settle(null);
      this.exited.resolve(undefined);
      events.ended(exitCode, cause);
    });
  }

  post(message: ToLog): void {
    this.worker.postMessage(message);
  }

  /** Sends a request; resolves with null for `done`, or if the thread ends before it replies. */
  ask(request: LogRequest): Promise<TailRows | null> {
    if (this.hasEnded) return Promise.resolve(null);
    const id = ++this.lastId;
    return new Promise((resolve) => {
      this.pending.set(id, (answer) => {
        this.pending.delete(id);
        resolve(answer);
      });
      this.post({ ...request, id });
    });
  }

  /** Makes the thread store or spool its rows and end; it is terminated after `withinMs`. */
  async close(withinMs: number): Promise<void> {
    const late = setTimeout(() => this.terminate(), withinMs);
    await this.ask({ type: 'close', withinMs });
    this.terminate();
    await this.exited.promise;
    clearTimeout(late);
  }

  /** Ends the thread immediately. */
  terminate(): void {
    void this.worker.terminate();
  }
}
