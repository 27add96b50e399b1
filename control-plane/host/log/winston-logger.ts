/**
 * Implements `Logger` with winston: one line per event on standard error, as JSON or as readable text. Standard output
 * is for the output of commands.
 */
import winston from 'winston';
import type { LogFields, Logger } from '../../../shared/log.ts';
import { isJournal, journalPrefix } from './journal.ts';
import { escapeUnsafe } from '../../../shared/unsafe-characters.ts';

/** The section `logging` of the configuration. */
export interface LogSettings {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly format: 'json' | 'text';
}

/** A logger whose settings can be changed while it runs. */
export interface AdjustableLogger extends Logger {
  /** Sets level and format for all further lines, including lines of child loggers. */
  adjust(settings: LogSettings): void;
}

/** Creates the logger of the process. `output` and `toJournal` are for tests. */
export function createLogger(
  settings: LogSettings,
  output: NodeJS.WritableStream = process.stderr,
  toJournal: boolean = isJournal(process.env),
): AdjustableLogger {
  const root = winston.createLogger({
    level: settings.level,
    format: formatOf(settings, toJournal),
    transports: [new winston.transports.Stream({ stream: output, eol: '\n' })],
  });
  return {
    ...wrap(root, {}),
    adjust(next) {
      root.level = next.level;
      root.format = formatOf(next, toJournal);
    },
  };
}

function wrap(root: winston.Logger, own: LogFields): Logger {
  const write = (level: string, message: string, fields?: LogFields): void => {
    // Checked first, because winston formats lines of every level; the fields are passed separately, because it would
    // replace a `%d` in the message with them.
    if (root.isLevelEnabled(level)) root.log({ level, message, fields: { ...own, ...fields } });
  };
  return {
    debug: (message, fields) => write('debug', message, fields),
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
    child: (fields) => wrap(root, { ...own, ...fields }),
  };
}

function formatOf({ format }: LogSettings, toJournal: boolean): winston.Logform.Format {
  return winston.format.printf((info) =>
    logLine(format, info.level as LogSettings['level'], String(info.message), {
      fields: info['fields'] as LogFields,
      toJournal,
    }),
  );
}

/**
 * One line without its line end, for messages that cannot wait for a logger, such as configuration errors or a crash.
 */
export function logLine(
  format: LogSettings['format'],
  level: LogSettings['level'],
  message: string,
  { fields = {}, toJournal = isJournal(process.env) }: { fields?: LogFields; toJournal?: boolean } = {},
): string {
  const print = format === 'json' ? toJson : toText;
  return (toJournal ? journalPrefix(level) : '') + print(level, message, fields);
}

function toJson(level: string, message: string, fields: LogFields): string {
  return escapeUnsafe(JSON.stringify({ ...fields, timestamp: now(), level, message }, plain));
}

/** Escapes characters with which text from outside could add lines to the log or reorder characters. */
function toText(level: string, message: string, fields: LogFields): string {
  const pairs = fieldsText(fields);
  return `${now()} ${level.padEnd(5)} ${escapeUnsafe(message)}${pairs === '' ? '' : ' '}${pairs}`;
}

/** Fields as in a line of text. */
export function fieldsText(fields: LogFields): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${valueText(value)}`)
    .join(' ');
}

function valueText(value: unknown): string {
  if (typeof value === 'string' && /^[\w./:@+-]+$/.test(value)) return value;
  return escapeUnsafe(value === undefined ? 'undefined' : JSON.stringify(value, plain));
}

/** Replaces values that JSON cannot represent. */
function plain(_key: string, value: unknown): unknown {
  if (value instanceof Error) return value.message;
  return typeof value === 'bigint' ? value.toString() : value;
}

function now(): string {
  return new Date().toISOString();
}
