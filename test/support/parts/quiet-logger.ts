/** A logger that keeps its lines, for tests that look at them or want silence. */
import type { LogFields, Logger } from '../../../shared/log.ts';

/** One line. */
export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

/** Keeps lines in `lines`; children write to the same list. */
export class QuietLogger implements Logger {
  readonly lines: LogLine[];
  private readonly fields: LogFields;

  constructor(lines: LogLine[] = [], fields: LogFields = {}) {
    this.lines = lines;
    this.fields = fields;
  }

  debug(message: string, fields?: LogFields): void {
    this.add('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.add('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.add('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.add('error', message, fields);
  }

  child(fields: LogFields): Logger {
    return new QuietLogger(this.lines, { ...this.fields, ...fields });
  }

  private add(level: LogLine['level'], message: string, fields: LogFields = {}): void {
    this.lines.push({ level, message, fields: { ...this.fields, ...fields } });
  }
}
