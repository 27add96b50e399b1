/** The place where the next page of the query log starts, as an opaque text. */

/** The last row of a page, and the number of rows that were found when its first page was made. */
export interface QueryLogCursor {
  /** Microseconds since the Unix epoch. */
  readonly timestampUs: number;
  readonly id: number;
  readonly total: number;
}

/** A cursor that Weir did not make. */
export class InvalidCursor extends Error {
  override readonly name = 'InvalidCursor';
}

/** Makes the text. */
export function encodeCursor({ timestampUs, id, total }: QueryLogCursor): string {
  return Buffer.from([timestampUs, id, total].join('.')).toString('base64url');
}

/** Reads the text. @throws {InvalidCursor} */
export function decodeCursor(text: string): QueryLogCursor {
  const parts = /^(\d{1,16})\.(\d{1,16})\.(\d{1,16})$/.exec(
    Buffer.from(text, 'base64url').toString('latin1'),
  );
  const [timestampUs, id, total] = (parts ?? []).slice(1).map(Number);
  const sound = [timestampUs, id, total].every((value) => value !== undefined && Number.isSafeInteger(value));
  if (!sound) throw new InvalidCursor(`read cursor ${JSON.stringify(text)}: not one of ours`);
  return { timestampUs: timestampUs!, id: id!, total: total! };
}
