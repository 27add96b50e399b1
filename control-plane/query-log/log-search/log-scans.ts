/**
 * Sends requests to the thread that reads the query log. The first request starts the thread, which ends after it has
 * been idle for `idleMs`. If the thread runs out of memory, only its requests fail, and the next request starts a new
 * one.
 */
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import type { Logger } from '../../../shared/log.ts';
import { hasErrorCode, reasonOf } from '../../../shared/errors.ts';
import { overloaded } from '../../api/api-error.ts';
import { Places } from '../../api/places.ts';
import { requestHolder } from '../../api/request-holder.ts';
import type { Database } from '../../storage/db/database.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import type { LogSelection } from '../reading/log-request.ts';
import {
  type Answers,
  type Arguments,
  type Lane,
  laneOf,
  LANES,
  type Question,
  type QuestionName,
} from './questions.ts';
import { ScanWorker } from './scan-worker.ts';
import { SharedAnswers } from './shared-answers.ts';

export interface LogScansOptions {
  readonly database: Pick<Database, 'target' | 'onStatus'>;
  readonly logger: Logger;
  /** JavaScript heap of the thread, in MiB; blocks are outside the heap, a few at a time. */
  readonly heapMib?: number;
  /** Milliseconds for which an idle thread is kept. */
  readonly idleMs?: number;
}

/** Name of a request whose result is sent as a whole, not in parts. */
export type SingleAnswerName = Exclude<QuestionName, 'rows'>;

/** Sends requests to the query log. */
export interface Scans {
  /**
   * Sends a request; cancelled when `signal` is aborted. @throws {DatabaseUnavailable} @throws {ApiError} 503 if too
   * many requests are waiting, or if there is not enough memory
   */
  ask<Name extends SingleAnswerName>(
    name: Name,
    argument: Arguments[Name],
    signal: AbortSignal,
  ): Promise<Answers[Name]>;
  /** Rows without host names, newest first; more are read as they are consumed. @throws as `ask()` */
  rows(selection: LogSelection, signal: AbortSignal): AsyncGenerator<readonly LoggedQuery[]>;
}

const HEAP_MIB = 96;
const IDLE_MS = 180_000;
/** Milliseconds between two reports of one damaged block. */
const REPORT_EVERY_MS = 3_600_000;
/** Seconds after which a rejected request may be sent again. */
const RETRY_SECS = 5;

/** The places of a lane. One caller can use at most half of them. */
function placesIn(lane: Lane): Places {
  const { atOnce, waiting } = LANES[lane];
  return new Places('requests to the query log', {
    total: Infinity,
    perCaller: (atOnce + waiting) / 2,
  });
}

/** Sends requests to a separate thread. */
export class LogScans implements Scans {
  private readonly options: LogScansOptions;
  private readonly heapMib: number;
  /**
   * Time at which each damaged block was last reported. Without this limit, each request that reads the block would
   * report it.
   */
  private readonly reportedMs = new Map<string, number>();
  private readonly shared = new SharedAnswers();
  private readonly places: Readonly<Record<Lane, Places>> = {
    quick: placesIn('quick'),
    sums: placesIn('sums'),
    scan: placesIn('scan'),
  };
  private readonly stopListening: () => void;
  private thread: ScanWorker | undefined;
  private ending: Promise<unknown> = Promise.resolve();
  private idleTimer: NodeJS.Timeout | undefined;
  private lastId = 0;
  private isClosed = false;

  constructor(options: LogScansOptions) {
    this.options = options;
    this.heapMib = options.heapMib ?? HEAP_MIB;
    this.stopListening = options.database.onStatus(({ state }) => {
      if (state !== 'up') this.thread?.post({ type: 'database-lost' });
    });
  }

  async ask<Name extends SingleAnswerName>(
    name: Name,
    argument: Arguments[Name],
    signal: AbortSignal,
  ): Promise<Answers[Name]> {
    const question = { name, argument } as Question;
    const read = async (signalOfAll: AbortSignal): Promise<Answers[Name]> =>
      (await this.begin(question, signalOfAll).answer) as Answers[Name];
    // Such results are not shared: a page must contain the newest rows, and reading a short period costs little.
    if (name === 'page' || laneOf(question) === 'quick') return read(signal);
    return this.shared.ask(JSON.stringify(question), read, signal);
  }

  async *rows(selection: LogSelection, signal: AbortSignal): AsyncGenerator<readonly LoggedQuery[]> {
    const enough = new AbortController();
    const parts: (readonly LoggedQuery[])[] = [];
    let isOver = false;
    let wake = (): void => undefined;
    const { answer, more } = this.begin(
      { name: 'rows', argument: selection },
      AbortSignal.any([signal, enough.signal]),
      (rows) => {
        parts.push(rows);
        wake();
      },
    );
    const over = (): void => {
      isOver = true;
      wake();
    };
    answer.then(over, over);
    try {
      while (parts.length > 0 || !isOver) {
        const rows = parts.shift();
        if (rows === undefined) await new Promise<void>((resolve) => (wake = resolve));
        else {
          yield rows;
          more();
        }
      }
      await answer;
    } finally {
      enough.abort();
    }
  }

  /** Ends the thread; later requests are rejected. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.stopListening();
    this.endThread();
    await this.ending;
  }

  private begin(
    question: Question,
    signal: AbortSignal,
    take?: (rows: readonly LoggedQuery[]) => void,
  ): { answer: Promise<Answers[QuestionName]>; more: () => void } {
    signal.throwIfAborted();
    if (this.isClosed) throw new DatabaseUnavailable('could not search the query log: Weir is stopping');
    const server = this.options.database.target();
    const lane = laneOf(question);
    const thread = (this.thread ??= this.start());
    this.refuseBeyond(lane, thread);
    const leave = this.places[lane].take(requestHolder());
    clearTimeout(this.idleTimer);
    const id = ++this.lastId;
    const answer = thread.ask(id, { question, lane, server, signal, ...(take && { take }) });
    answer.then(leave, leave);
    return { answer, more: () => thread.post({ type: 'more', id }) };
  }

  private refuseBeyond(lane: Lane, thread: ScanWorker): void {
    const { atOnce, waiting } = LANES[lane];
    if (thread.count(lane) < atOnce + waiting) return;
    throw overloaded(`${waiting} other requests are waiting for the query log; try again later`, RETRY_SECS);
  }

  private start(): ScanWorker {
    const { logger, idleMs = IDLE_MS } = this.options;
    const thread: ScanWorker = new ScanWorker(this.heapMib, {
      damaged: (block, reason) => this.reportDamage(block, reason),
      log: ({ level, message, fields }) => logger[level](message, fields),
      idle: () => {
        if (this.thread === thread) this.idleTimer = setTimeout(() => this.endThread(), idleMs).unref();
      },
      ended: (cause) => {
        if (this.thread === thread) this.clearReports();
        return this.explain(cause);
      },
    });
    return thread;
  }

  private reportDamage(block: string, reason: string): void {
    const nowMs = performance.now();
    if (nowMs - (this.reportedMs.get(block) ?? -Infinity) < REPORT_EVERY_MS) return;
    this.reportedMs.set(block, nowMs);
    this.options.logger.error('skipped a damaged block of the query log', { block, reason });
  }

  private endThread(): void {
    const { thread } = this;
    this.clearReports();
    if (thread !== undefined) this.ending = Promise.all([this.ending, thread.end()]);
  }

  private clearReports(): void {
    clearTimeout(this.idleTimer);
    this.thread = undefined;
  }

  /** The error with which the requests of an ended thread fail. */
  private explain(cause: Error | undefined): Error {
    if (cause === undefined)
      return new DatabaseUnavailable('could not search the query log: Weir is stopping');
    const { logger } = this.options;
    if (hasErrorCode(cause, 'ERR_WORKER_OUT_OF_MEMORY')) {
      logger.warn('the scan thread ran out of memory; restarting it', {
        limit_mib: this.heapMib,
      });
      return overloaded(
        `the request exceeds the query log's memory limit of ${this.heapMib} MiB; use a shorter period or a smaller page`,
        RETRY_SECS,
      );
    }
    logger.error('the scan thread died; restarting it', { reason: reasonOf(cause) });
    return new Error(`could not search the query log: ${reasonOf(cause)}`, { cause });
  }
}
