/** A logger that stores its lines, for tests that check them or need silence. */
import type { LogFields, Logger } from '../../../shared/log.ts';

/** One line. */
export interface MemoryLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

/** Stores the lines of the logger and its children. */
export class MemoryLogger implements Logger {
  readonly lines: MemoryLine[];
  private readonly own: LogFields;

  constructor(lines: MemoryLine[] = [], own: LogFields = {}) {
    this.lines = lines;
    this.own = own;
  }

  debug(message: string, fields?: LogFields): void {
    this.keep('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.keep('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.keep('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.keep('error', message, fields);
  }

  child(fields: LogFields): Logger {
    return new MemoryLogger(this.lines, { ...this.own, ...fields });
  }

  /** All lines as one text. */
  text(): string {
    return this.lines
      .map((line) => `${line.level} ${line.message} ${JSON.stringify(line.fields)}`)
      .join('\n');
  }

  private keep(level: MemoryLine['level'], message: string, fields: LogFields = {}): void {
    this.lines.push({ level, message, fields: { ...this.own, ...fields } });
  }
}
