/**
 * The logger interface of all code. The control plane implements it with winston; threads send their lines over their
 * MessagePort. Levels: error = a person must act, warn = degraded, info = lifecycle, debug = per query.
 */

/** Fields of a log line; values must be representable in JSON. Do not log secrets. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Structured logging, one method per level. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to each of its lines. */
  child(fields: LogFields): Logger;
}
