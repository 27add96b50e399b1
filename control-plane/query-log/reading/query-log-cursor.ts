/** The position at which another page of the query log starts, as opaque text. */

import type { RowTotals } from '../search/block-scan.ts';

/** The position of a row next to a page, and the totals that were counted for the first page. */
export interface QueryLogCursor {
  /** Time of the row in microseconds since the Unix epoch. */
  readonly timestampUs: number;
  readonly id: number;
  readonly totals: Readonly<RowTotals>;
  /** True if the page continues with newer rows, false if with older ones. */
  readonly isNewer: boolean;
}

/** A cursor that Weir did not create. */
export class InvalidCursor extends Error {
  override readonly name = 'InvalidCursor';
}

/** Suffix of a cursor towards newer rows. */
const NEWER = '.n';
/** Precedes the number of repeats, if there are any. */
const REPEATS = 'r';

/** Converts a cursor to text. */
export function encodeCursor({ timestampUs, id, totals, isNewer }: QueryLogCursor): string {
  const { rows, queries } = totals;
  const numbers = [timestampUs, id, rows, ...(queries === rows ? [] : [REPEATS + String(queries - rows)])];
  return Buffer.from(numbers.join('.') + (isNewer ? NEWER : '')).toString('base64url');
}

/** Converts text to a cursor. @throws {InvalidCursor} */
export function decodeCursor(text: string): QueryLogCursor {
  const parts = /^(\d{1,16})\.(\d{1,16})\.(\d{1,16})(?:\.r(\d{1,16}))?(\.n)?$/.exec(
    Buffer.from(text, 'base64url').toString('latin1'),
  );
  const [timestampUs, id, rows, repeats] = (parts ?? [])
    .slice(1, 5)
    .map((part: string | undefined) => Number(part ?? 0));
  const sound = [timestampUs, id, rows, repeats].every(
    (value) => value !== undefined && Number.isSafeInteger(value),
  );
  if (!sound)
    throw new InvalidCursor(
      `could not read the cursor ${JSON.stringify(text)}: it is not a cursor of this log`,
    );
  const totals = { rows: rows!, queries: rows! + repeats! };
  return { timestampUs: timestampUs!, id: id!, totals, isNewer: parts![5] === NEWER };
}
