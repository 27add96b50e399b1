/** Keeps the last warnings and errors of this process in memory, for administrators who read them in the dashboard. */
import type { LogFields, Logger } from '../../../shared/log.ts';
import { fieldsText, type AdjustableLogger } from './winston-logger.ts';

/** One line. */
export interface RecentLine {
  readonly timestampMs: number;
  readonly level: 'warn' | 'error';
  readonly message: string;
  /** Fields as in the text format of the log; may be truncated. */
  readonly fields: string;
}

/** Maximum number of lines that are kept. */
export const MAX_LINES = 200;
/** Maximum number of characters that are kept of a message, and of its fields. */
const MAX_CHARACTERS = 1000;

/** Keeps the newest lines. */
export class RecentLines {
  private readonly kept: RecentLine[] = [];
  private readonly nowMs: () => number;

  constructor(nowMs: () => number = Date.now) {
    this.nowMs = nowMs;
  }

  /** All kept lines, the newest first. */
  all(): RecentLine[] {
    return this.kept.toReversed();
  }

  /** Returns a logger whose warnings and errors are also kept here, even if its level excludes them. */
  keepFrom(logger: AdjustableLogger): AdjustableLogger {
    return { ...this.wrap(logger, {}), adjust: (settings) => logger.adjust(settings) };
  }

  private wrap(logger: Logger, own: LogFields): Logger {
    return {
      debug: (message, fields) => logger.debug(message, fields),
      info: (message, fields) => logger.info(message, fields),
      warn: (message, fields) => {
        this.keep('warn', message, { ...own, ...fields });
        logger.warn(message, fields);
      },
      error: (message, fields) => {
        this.keep('error', message, { ...own, ...fields });
        logger.error(message, fields);
      },
      child: (fields) => this.wrap(logger.child(fields), { ...own, ...fields }),
    };
  }

  private keep(level: RecentLine['level'], message: string, fields: LogFields): void {
    this.kept.push({
      timestampMs: this.nowMs(),
      level,
      message: cut(message),
      fields: cut(fieldsText(fields)),
    });
    if (this.kept.length > MAX_LINES) this.kept.shift();
  }
}

function cut(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS).toWellFormed()}…`;
}
