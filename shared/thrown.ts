/** Reads thrown values: the system's error code, and the reason in one line. */

/** Whether `error` is a system error with this code, e.g. EADDRINUSE. */
export function hasErrorCode(error: unknown, code: string): boolean {
  return error instanceof Error && codeOf(error) === code;
}

/** The code of a system or database error; else the text of what was thrown. */
export function errorCode(error: unknown): string {
  return (error instanceof Error && codeOf(error)) || String(error);
}

/** The reason in one line: the message, for several errors the first one's. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message || codeOf(error) : String(error);
}

/** The code of an error, e.g. ENOENT or an SQLSTATE; '' without one. */
export function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
