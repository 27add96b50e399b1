/**
 * Limits the damage of a bug in a resolve thread to one question, a count and a log line; the thread survives. Code
 * that a packet can reach runs in a turn of the event loop that a timer, socket or promise started; this module handles
 * the uncaught errors of such turns. Questions end at their deadlines, so nothing waits for interrupted work.
 */
import type { Clock } from '../../shared/clock.ts';
import { Counter } from '../../shared/memory/counters.ts';
import type { Logger } from '../../shared/log.ts';
import type { Reporter } from './reporter.ts';

/** Minimum milliseconds between two log lines, since a bug may occur with every packet. */
const LOG_PAUSE_MS = 1000;

/** Counts bugs and keeps the thread alive. One per resolve thread. */
export class ThreadGuard {
  private readonly reporter: Pick<Reporter, 'count'>;
  private readonly clock: Clock;
  private readonly logger: Logger;
  private mayLogAtMs = -Infinity;
  private unlogged = 0;

  constructor(reporter: Pick<Reporter, 'count'>, clock: Clock, logger: Logger) {
    this.reporter = reporter;
    this.clock = clock;
    this.logger = logger;
  }

  /** Installs the handlers: uncaught errors no longer end this thread. */
  watch(): void {
    // Also receives unhandled rejections.
    process.on('uncaughtException', this.take);
  }

  /** Removes the handlers: the next uncaught error ends the thread. */
  unwatch(): void {
    process.off('uncaughtException', this.take);
  }

  /** Runs `work` and counts errors. */
  run(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.take(error);
    }
  }

  /** Counts an error that is a bug. */
  readonly take = (error: unknown): void => {
    this.reporter.count(Counter.INTERNAL_ERRORS);
    const nowMs = this.clock.monotonicMs();
    if (nowMs < this.mayLogAtMs) {
      this.unlogged++;
      return;
    }
    this.mayLogAtMs = nowMs + LOG_PAUSE_MS;
    const cause = error instanceof Error ? error.stack : String(error);
    this.logger.error('internal error; continuing', { cause, not_logged_before: this.unlogged });
    this.unlogged = 0;
  };
}
