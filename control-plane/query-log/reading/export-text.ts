/** Rows of the log as files: CSV (RFC 4180) and JSON Lines. Pure. */
import { LoggedQuery } from '../../../shared/api/query-log-api.ts';

/** A text format for rows. */
export interface TextFormat {
  /** Text before the first row. */
  readonly head: string;
  readonly textOf: (row: LoggedQuery) => string;
}

const COLUMNS = Object.keys(LoggedQuery.shape) as (keyof LoggedQuery)[];
const LINE_END = '\r\n';

/** The formats, by the name that requests use. */
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

/** A value as a CSV cell; structured values become JSON. */
function cell(value: LoggedQuery[keyof LoggedQuery]): string {
  if (value === null) return '';
  return quoted(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

/** The text, quoted if necessary. If a spreadsheet would run the text as a formula, a leading apostrophe is added. */
function quoted(text: string): string {
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
