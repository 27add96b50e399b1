/** Reads thrown values: the system's error code, and the reason in one line. */

/** Whether `error` is a system error with this code, e.g. EADDRINUSE. */
export function hasErrorCode(error: unknown, code: string): boolean {
  return error instanceof Error && codeOf(error) === code;
}

/** The code of a system or database error; for other values, the text of the thrown value. */
export function errorCode(error: unknown): string {
  return (error instanceof Error && codeOf(error)) || String(error);
}

/**
 * The reason in one line: the message, or the first message if there are several errors; a full disk always gets the
 * same text.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  const message = error.message || codeOf(error);
  return isDiskFull(error) && !message.includes(DISK_FULL) ? `${DISK_FULL}: ${message}` : message;
}

const DISK_FULL = 'the disk is full';

/**
 * Whether a disk is full: the disk of this machine (ENOSPC, or an exceeded quota), or the disk of PostgreSQL (SQLSTATE
 * 53100, or a message without a code if PostgreSQL cannot start).
 */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /^(ENOSPC|EDQUOT|53100)$/.test(codeOf(error)) || /No space left on device/.test(error.message);
}

/** The code of an error, e.g. ENOENT or an SQLSTATE; '' without one. */
export function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
