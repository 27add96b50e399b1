/**
 * An error in the configuration, and its message: one line with the location, the key, and the expected and the actual
 * value.
 */
import { shownUrl } from '../shared/net/shown-url.ts';

export interface ConfigFault {
  /** Name of the file as the user gave it, or `environment`. */
  readonly source: string;
  /** 1-based line of the file, if known. */
  readonly line: number | undefined;
  /** Path of the key (`server.web_port`), or the name of the environment variable. */
  readonly key: string;
  /** The expected and the actual value. */
  readonly message: string;
}

/** Formats an error as one line: `file:line: key: expected …, got …`.…`. */
export function formatFault({ source, line, key, message }: ConfigFault): string {
  const place = line === undefined ? source : `${source}:${line}`;
  return `${place}: ${key === '' ? '' : `${key}: `}${message}`;
}

/** Placeholder for a value that must not appear in messages. */
export const HIDDEN: unique symbol = Symbol('a value that is not shown');

/** Describes an error as `expected …, got …`.…`. */
export function describe(expected: string, got: unknown): string {
  return `expected ${expected}${got === undefined ? '' : `, got ${show(got)}`}`;
}

function show(got: unknown): string {
  if (got === HIDDEN) return 'a value that is not shown';
  if (got instanceof Date) return `the date ${Number.isNaN(got.getTime()) ? 'invalid' : got.toISOString()}`;
  if (Array.isArray(got)) return got.length === 0 ? 'an empty list' : `a list of ${got.length}`;
  if (isTable(got)) return 'a table';
  const shown = typeof got === 'string' ? JSON.stringify(shownUrl(got)) : String(got);
  return shown.length > 80 ? `${shown.slice(0, 77)}...` : shown;
}

/** Whether a value is a table: an object that is neither a list nor a date. */
export function isTable(raw: unknown): raw is Record<string, unknown> {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw) && !(raw instanceof Date);
}
