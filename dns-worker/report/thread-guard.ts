/**
 * What a bug may cost a resolve thread: one question, a count and a line in the log, never the thread. Everything that
 * a packet can reach runs in a turn of the event loop that some timer, socket or promise began; what is thrown there
 * and not caught nearer by comes here. Questions end by their deadlines, so nothing waits for what was cut short.
 */
import type { Clock } from '../../shared/clock.ts';
import { Counter } from '../../shared/memory/counters.ts';
import type { Logger } from '../../shared/log.ts';
import type { Reporter } from './reporter.ts';

/** One bug may show with every packet: at most one line in this time, milliseconds. */
const LOG_PAUSE_MS = 1000;

/** Counts bugs and goes on. One a resolve thread. */
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

  /** From now on nothing that is thrown ends this thread. */
  watch(): void {
    // Rejections that no one handles come here, too.
    process.on('uncaughtException', this.take);
  }

  /** Again the first uncaught error ends the thread. */
  unwatch(): void {
    process.off('uncaughtException', this.take);
  }

  /** Runs a piece of work and takes what it throws. */
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
    this.logger.error('go on after an internal error', { cause, not_logged_before: this.unlogged });
    this.unlogged = 0;
  };
}
