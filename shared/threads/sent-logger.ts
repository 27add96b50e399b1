/** Logging in threads: lines are sent as messages, and the control plane writes them. */
import type { LogFields, Logger } from '../log.ts';

/** A line in the form that a thread sends. */
export interface SentLine {
  readonly type: 'log';
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger that sends each line, with `fields` added to the line's fields. */
export function sentLogger(send: (line: SentLine) => void, fields: LogFields = {}): Logger {
  const log =
    (level: SentLine['level']): Logger['debug'] =>
    (message, more) =>
      send({ type: 'log', level, message, fields: { ...fields, ...more } });
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    child: (more) => sentLogger(send, { ...fields, ...more }),
  };
}
