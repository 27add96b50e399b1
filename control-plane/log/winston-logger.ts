/**
 * Implements `Logger` with winston: one line per event on standard error, as JSON or as text for people. Standard
 * output is for the output of commands.
 */
import winston from 'winston';
import type { LogFields, Logger } from '../../shared/log.ts';
import { escapeUnsafe } from '../../shared/unsafe-characters.ts';

/** Section `logging` of the configuration. */
export interface LogSettings {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly format: 'json' | 'text';
}

/** A logger whose settings can be changed while it runs. */
export interface AdjustableLogger extends Logger {
  /** Sets level and format for all further lines, also of children. */
  adjust(settings: LogSettings): void;
}

/** Makes the logger of the process. `output` is for tests. */
export function createLogger(
  settings: LogSettings,
  output: NodeJS.WritableStream = process.stderr,
): AdjustableLogger {
  const root = winston.createLogger({
    level: settings.level,
    format: formatOf(settings),
    transports: [new winston.transports.Stream({ stream: output, eol: '\n' })],
  });
  return {
    ...wrap(root, {}),
    adjust(next) {
      root.level = next.level;
      root.format = formatOf(next);
    },
  };
}

function wrap(root: winston.Logger, own: LogFields): Logger {
  const write = (level: string, message: string, fields?: LogFields): void => {
    // Winston formats lines of every level, and would take a `%d` of the message for a place to put the fields in.
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

function formatOf({ format }: LogSettings): winston.Logform.Format {
  const print = format === 'json' ? toJson : toText;
  return winston.format.printf((info) =>
    print(info.level, String(info.message), info['fields'] as LogFields),
  );
}

function toJson(level: string, message: string, fields: LogFields): string {
  return escapeUnsafe(JSON.stringify({ ...fields, timestamp: now(), level, message }, plain));
}

/** External text must forge no lines, and not reorder one. */
function toText(level: string, message: string, fields: LogFields): string {
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${valueText(value)}`);
  return `${now()} ${level.padEnd(5)} ${escapeUnsafe(message)}${pairs.join('')}`;
}

function valueText(value: unknown): string {
  if (typeof value === 'string' && /^[\w./:@+-]+$/.test(value)) return value;
  return escapeUnsafe(value === undefined ? 'undefined' : JSON.stringify(value, plain));
}

/** Values that JSON cannot represent. */
function plain(_key: string, value: unknown): unknown {
  if (value instanceof Error) return value.message;
  return typeof value === 'bigint' ? value.toString() : value;
}

function now(): string {
  return new Date().toISOString();
}
