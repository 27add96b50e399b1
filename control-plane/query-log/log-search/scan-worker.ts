/**
 * The control plane's side of one scan thread: starts it, sends requests, and ends it. `log-scans.ts` replaces a thread
 * that has ended.
 */
import { Worker } from 'node:worker_threads';
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import type { SentTarget } from '../../storage/db/database-target.ts';
import type { Answers, Lane, Question, QuestionName } from './questions.ts';
import { fromFailure, type FromScans, type ToScans } from './scan-messages.ts';

/** Callbacks for the owner of a thread. */
export interface ScanWorkerEvents {
  readonly damaged: (block: string, reason: string) => void;
  readonly log: (line: Extract<FromScans, { type: 'log' }>) => void;
  /** Called when the last pending request has ended. */
  readonly idle: () => void;
  /** Called once when the thread has ended; returns the error with which its pending requests fail. */
  readonly ended: (cause: Error | undefined) => Error;
}

/** A request to the thread. */
export interface ScanRequest {
  readonly question: Question;
  readonly lane: Lane;
  readonly server: SentTarget;
  readonly signal: AbortSignal;
  /** Receives each part of the rows. */
  readonly take?: (rows: readonly LoggedQuery[]) => void;
}

interface Pending extends ScanRequest {
  readonly settle: (error: Error | null, answer?: Answers[QuestionName]) => void;
}

const ENTRY = new URL('./scan-thread.ts', import.meta.url);
/** Maximum young generation in MiB; kept small, because blocks are outside the heap. */
const YOUNG_GENERATION_MIB = 8;
/** Milliseconds that the thread has to close its connections and end before it is terminated. */
const END_MS = 300;

/** A running thread. */
export class ScanWorker {
  private readonly worker: Worker;
  private readonly events: ScanWorkerEvents;
  private readonly pending = new Map<number, Pending>();
  private readonly exited = Promise.withResolvers<undefined>();

  constructor(heapMib: number, events: ScanWorkerEvents) {
    this.events = events;
    this.worker = new Worker(ENTRY, {
      name: 'scans',
      resourceLimits: { maxOldGenerationSizeMb: heapMib, maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    });
    let cause: Error | undefined;
    this.worker.on('message', (message: FromScans) => this.handle(message));
    this.worker.on('error', (error: unknown) => {
      cause = error instanceof Error ? error : new Error(String(error));
    });
    this.worker.on('exit', () => {
      const reason = events.ended(cause);
      for (const { settle } of this.pending.values()) settle(reason);
      this.exited.resolve(undefined);
    });
  }

  /** Number of pending requests in a lane. */
  count(lane: Lane): number {
    return this.pending.values().reduce((sum, asked) => sum + (asked.lane === lane ? 1 : 0), 0);
  }

  /** Sends a request; cancelled when the signal is aborted. */
  ask(id: number, asked: ScanRequest): Promise<Answers[QuestionName]> {
    const { question, server, signal } = asked;
    return new Promise((resolve, reject) => {
      const settle: Pending['settle'] = (error, answer) => {
        signal.removeEventListener('abort', cancel);
        this.pending.delete(id);
        if (error === null) resolve(answer!);
        else reject(error);
        if (this.pending.size === 0) this.events.idle();
      };
      const cancel = (): void => {
        this.post({ type: 'cancel', id });
        settle(signal.reason as Error);
      };
      this.pending.set(id, { ...asked, settle });
      signal.addEventListener('abort', cancel, { once: true });
      this.post({ type: 'ask', id, question, server });
    });
  }

  /** Sends a message other than a request. */
  post(message: ToScans): void {
    this.worker.postMessage(message);
  }

  /** Ends the thread; its requests fail. */
  async end(): Promise<void> {
    this.post({ type: 'end' });
    const late = setTimeout(() => void this.worker.terminate(), END_MS);
    await this.exited.promise;
    clearTimeout(late);
  }

  private handle(message: FromScans): void {
    switch (message.type) {
      case 'answer':
        this.pending.get(message.id)?.settle(null, message.answer);
        return;
      case 'failure':
        this.pending.get(message.id)?.settle(fromFailure(message.failure));
        return;
      case 'part':
        this.pending.get(message.id)?.take?.(message.rows);
        return;
      case 'damaged':
        this.events.damaged(message.block, message.reason);
        return;
      case 'log':
        this.events.log(message);
    }
  }
}
