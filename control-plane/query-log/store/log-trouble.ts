/** Keeps the reason why rows of the query log cannot be stored, for `/health` and, at intervals, for the log. */
import type { LogFields, Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';

/** Milliseconds between two log lines. */
const LOG_MS = 10_000;

/** Keeps the current reason and logs it at most once per interval. */
export class LogTrouble {
  private readonly logger: Logger;
  private readonly onChange: ((now: string | null) => void) | undefined;
  private current: string | null = null;
  private loggedMs = -Infinity;

  /** `onChange` is called with each new reason, and with null when rows can be stored again. */
  constructor(logger: Logger, onChange?: (now: string | null) => void) {
    this.logger = logger;
    this.onChange = onChange;
  }

  /** Reason why the last rows could not be stored; null = they were stored. */
  now(): string | null {
    return this.current;
  }

  /** Records that rows could not be stored. */
  begin(message: string, cause: unknown, fields: LogFields): void {
    this.set(`${message}: ${reasonOf(cause)}`);
    if (performance.now() - this.loggedMs < LOG_MS) return;
    this.loggedMs = performance.now();
    this.logger.error(message, { reason: reasonOf(cause), ...fields });
  }

  /** Records that rows were stored. */
  end(): void {
    this.set(null);
  }

  private set(reason: string | null): void {
    if (reason === this.current) return;
    this.current = reason;
    this.onChange?.(reason);
  }
}
