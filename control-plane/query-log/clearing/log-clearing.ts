/**
 * Runs the clears that administrators request, one after another, on one node at a time. Clears are rows in the
 * database, so a restart, a lost database or the shutdown of a node only delays them.
 */
import type { Clock } from '../../../shared/clock.ts';
import { reasonOf } from '../../../shared/errors.ts';
import type { JobLeases } from '../../storage/cluster/leases.ts';
import { DatabaseUnavailable, isConflict } from '../../storage/db/database-errors.ts';
import { ClearRun, type ClearRunOptions } from './clear-run.ts';
import { deleteOldClears, nextOpenClear } from './clear-store.ts';

/** Dependencies of the clearing. */
export interface LogClearingOptions extends ClearRunOptions {
  readonly jobs: Pick<JobLeases, 'hold'>;
  readonly clock: Clock;
  /** Current value of `database.rollup_days`. */
  readonly rollupDays: () => number;
}

/** Milliseconds between two checks for clears that were requested at other nodes. */
const POLL_MS = 60_000;
/** Milliseconds until a retry after a failure, or while another node runs the clears. */
const RETRY_MS = 5000;
const DAY_MS = 86_400_000;
/** Minimum number of days for which clears are kept: rows that a node has spooled on disk may arrive this late. */
const SPOOL_DAYS = 60;

/** Runs the clears that are not complete. One per node. */
export class LogClearing {
  private readonly options: LogClearingOptions;
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  /** Whether `wake()` was called during a run. */
  private isWanted = false;
  private retry: NodeJS.Timeout | undefined;

  constructor(options: LogClearingOptions) {
    this.options = options;
  }

  /** Starts, and continues whenever the database becomes available; returns a function that stops the clearing. */
  start(): () => Promise<void> {
    const { database } = this.options;
    const timer = setInterval(() => this.wake(), POLL_MS).unref();
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

  /** Checks whether there are clears to run. */
  wake(): void {
    if (this.stopping.signal.aborted || this.options.database.status().state !== 'up') return;
    this.isWanted = true;
    this.running ??= this.work();
  }

  /** Resolves when no run is in progress on this node. */
  async settled(): Promise<void> {
    while (this.running !== undefined) await this.running;
  }

  private async work(): Promise<void> {
    await Promise.resolve(); // Ensures that `running` is set before this function returns.
    try {
      while (this.isWanted && !this.stopping.signal.aborted) {
        this.isWanted = false;
        if (!(await this.turn())) this.tryLater();
      }
    } catch (error) {
      this.tryLater();
      // A lost database is logged elsewhere, and a conflict is resolved by the retry.
      if (!(error instanceof DatabaseUnavailable || isConflict(error)))
        this.options.logger.warn('could not clear the query log; retrying later', {
          reason: reasonOf(error),
        });
    } finally {
      this.running = undefined;
    }
  }

  /**
   * Runs the open clears; false if another node runs them: a retry is needed, because that run may not include the
   * newest clear.
   */
  private async turn(): Promise<boolean> {
    const { database, jobs, logger, clock, rollupDays } = this.options;
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
      await deleteOldClears(database, new Date(clock.nowMs() - keptDays * DAY_MS));
    });
  }

  private tryLater(): void {
    if (this.stopping.signal.aborted) return;
    clearTimeout(this.retry);
    this.retry = setTimeout(() => this.wake(), RETRY_MS).unref();
  }
}
