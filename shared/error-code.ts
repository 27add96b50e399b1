/** Reading the system's error code off a value that was thrown. */

/** Whether `error` is a system error with this code, e.g. EADDRINUSE. */
export function hasErrorCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
