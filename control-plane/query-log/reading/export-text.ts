/** Rows of the log as files: CSV (RFC 4180) and lines of JSON. Pure. */
import { LoggedQuery } from '../../../shared/api/query-log-api.ts';

/** A way to write rows as text. */
export interface TextFormat {
  /** Text before the first row. */
  readonly head: string;
  readonly textOf: (row: LoggedQuery) => string;
}

const COLUMNS = Object.keys(LoggedQuery.shape) as (keyof LoggedQuery)[];
const LINE_END = '\r\n';

/** The formats, by their name in a request. */
export const TextFormats = {
  csv: {
    head: COLUMNS.join(',') + LINE_END,
    textOf: (row) => COLUMNS.map((column) => cell(row[column])).join(',') + LINE_END,
  },
  ndjson: {
    head: '',
    textOf: (row) => `${JSON.stringify(row)}\n`,
  },
} as const satisfies Record<string, TextFormat>;

/** A value as a cell; structured values as JSON. */
function cell(value: LoggedQuery[keyof LoggedQuery]): string {
  if (value === null) return '';
  return quoted(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

/** Quoted if necessary. A text that a spreadsheet would run as a formula gets a leading apostrophe. */
function quoted(text: string): string {
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
