/** The place where another page of the query log starts, as an opaque text. */

/** The row beside which a page lies, and the number of rows that were found when the first page was made. */
export interface QueryLogCursor {
  /** Microseconds since the Unix epoch. */
  readonly timestampUs: number;
  readonly id: number;
  readonly total: number;
  /** The page has the rows that are next newer than that row; otherwise those that are next older. */
  readonly isNewer: boolean;
}

/** A cursor that Weir did not make. */
export class InvalidCursor extends Error {
  override readonly name = 'InvalidCursor';
}

/** Marks the direction. */
const NEWER = '.n';

/** Makes the text. */
export function encodeCursor({ timestampUs, id, total, isNewer }: QueryLogCursor): string {
  return Buffer.from([timestampUs, id, total].join('.') + (isNewer ? NEWER : '')).toString('base64url');
}

/** Reads the text. @throws {InvalidCursor} */
export function decodeCursor(text: string): QueryLogCursor {
  const parts = /^(\d{1,16})\.(\d{1,16})\.(\d{1,16})(\.n)?$/.exec(
    Buffer.from(text, 'base64url').toString('latin1'),
  );
  const [timestampUs, id, total] = (parts ?? []).slice(1, 4).map(Number);
  const sound = [timestampUs, id, total].every((value) => value !== undefined && Number.isSafeInteger(value));
  if (!sound) throw new InvalidCursor(`read cursor ${JSON.stringify(text)}: not one of ours`);
  return { timestampUs: timestampUs!, id: id!, total: total!, isNewer: parts![4] === NEWER };
}
