/** Retries an operation that must succeed eventually, with increasing pauses. */
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';

/** The work, and its pauses. */
export interface RetryingOptions {
  readonly work: () => Promise<void>;
  readonly logger: Logger;
  /** Name of the operation for the log, e.g. `register node`. */
  readonly what: string;
  /** Milliseconds before the first attempt. The pause is doubled after each attempt, up to `lastMs`. */
  readonly firstMs?: number;
  readonly lastMs?: number;
}

const FIRST_MS = 500;
const LAST_MS = 30_000;

/** Retries one operation, one attempt at a time. No attempt is made before `soon()` or `now()` is called. */
export class Retrying {
  private readonly options: Required<RetryingOptions>;
  private pauseMs: number;
  private timer: NodeJS.Timeout | undefined;
  private attempt: Promise<void> | undefined;
  private isClosed = false;

  constructor(options: RetryingOptions) {
    this.options = { firstMs: FIRST_MS, lastMs: LAST_MS, ...options };
    this.pauseMs = this.options.firstMs;
  }

  /** Schedules an attempt after a pause, unless one is already scheduled. */
  soon(): void {
    if (this.isClosed || this.timer !== undefined) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.now();
    }, this.pauseMs);
    this.timer.unref();
    this.pauseMs = Math.min(this.pauseMs * 2, this.options.lastMs);
  }

  /** Tries immediately, or after the running attempt; resolves when the attempt has ended, even if it failed. */
  now(): Promise<void> {
    this.settle();
    const before = this.attempt ?? Promise.resolve();
    const attempt = before.then(() => this.try());
    this.attempt = attempt;
    return attempt;
  }

  /** Cancels scheduled attempts; resolves when no attempt is running. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.settle();
    await this.attempt;
  }

  private settle(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private async try(): Promise<void> {
    if (this.isClosed) return;
    const { work, logger, what, firstMs } = this.options;
    try {
      await work();
      this.settle();
      this.pauseMs = firstMs;
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      logger.warn(`could not ${what}; retrying later`, { reason: reasonOf(cause), after_ms: this.pauseMs });
      this.soon();
    }
  }
}
