/**
 * Runs the clears that administrators ask for, one after the other, on one node at a time. Clears are rows of the
 * database, so a restart, a lost database or the end of a node only delays them.
 */
import { reasonOf } from '../../../shared/errors.ts';
import type { JobLeases } from '../../storage/cluster/leases.ts';
import { DatabaseUnavailable, isConflict } from '../../storage/db/database-errors.ts';
import { ClearRun, type ClearRunOptions } from './clear-run.ts';
import { forgetClears, nextOpenClear } from './clear-store.ts';

/** Dependencies of the clearing. */
export interface LogClearingOptions extends ClearRunOptions {
  readonly jobs: Pick<JobLeases, 'hold'>;
  /** `database.rollup_days`; asked each time. */
  readonly rollupDays: () => number;
}

/** Milliseconds between two looks for clears of other nodes. */
const LOOK_MS = 60_000;
/** Until work is tried again that failed, or that another node has begun. */
const RETRY_MS = 5000;
const DAY_MS = 86_400_000;
/** Days for which a row may still arrive from the disk of a node, and statistics beyond them. */
const SPOOL_DAYS = 60;

/** One per node. */
export class LogClearing {
  private readonly options: LogClearingOptions;
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  /** A clear came while another one was made. */
  private isWanted = false;
  private retry: NodeJS.Timeout | undefined;

  constructor(options: LogClearingOptions) {
    this.options = options;
  }

  /** Begins, and continues whenever the database comes up; returns how to stop that. */
  start(): () => Promise<void> {
    const { database } = this.options;
    const timer = setInterval(() => this.wake(), LOOK_MS).unref();
    const stopListening = database.onStatus(({ state }) => {
      if (state === 'up') this.wake();
    });
    this.wake();
    return async () => {
      this.stopping.abort();
      clearInterval(timer);
      clearTimeout(this.retry);
      stopListening();
      await this.running;
    };
  }

  /** Looks for open clears. */
  wake(): void {
    if (this.stopping.signal.aborted || this.options.database.status().state !== 'up') return;
    this.isWanted = true;
    this.running ??= this.work();
  }

  /** Resolves when there is nothing to be done here. */
  async settled(): Promise<void> {
    while (this.running !== undefined) await this.running;
  }

  private async work(): Promise<void> {
    await Promise.resolve(); // `running` is set before anything here ends.
    try {
      while (this.isWanted && !this.stopping.signal.aborted) {
        this.isWanted = false;
        if (!(await this.turn())) this.tryLater();
      }
    } catch (error) {
      this.tryLater();
      // A lost database is logged elsewhere, and a conflict is a matter of milliseconds.
      if (!(error instanceof DatabaseUnavailable || isConflict(error)))
        this.options.logger.warn('clear the query log failed: retried later', { reason: reasonOf(error) });
    } finally {
      this.running = undefined;
    }
  }

  /** False if another node has begun, whose turn may not include the newest. */
  private async turn(): Promise<boolean> {
    const { database, jobs, logger, rollupDays } = this.options;
    if ((await nextOpenClear(database)) === null) return true;
    return jobs.hold('clear the query log', async (lease) => {
      const signal = AbortSignal.any([lease.signal, this.stopping.signal]);
      for (;;) {
        const clear = await nextOpenClear(database);
        if (clear === null || signal.aborted) break;
        if (!(await new ClearRun(this.options, clear, signal).finish())) return;
        logger.info('query log cleared', { id: clear.id });
      }
      const keptDays = Math.max(rollupDays(), SPOOL_DAYS);
      await forgetClears(database, new Date(Date.now() - keptDays * DAY_MS));
    });
  }

  private tryLater(): void {
    if (this.stopping.signal.aborted) return;
    clearTimeout(this.retry);
    this.retry = setTimeout(() => this.wake(), RETRY_MS).unref();
  }
}
