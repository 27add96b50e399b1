/** Errors as they pass from the thread to the control plane. */
import { reasonOf } from '../../../shared/thrown.ts';
import { DatabaseBusy, DatabaseUnavailable } from '../../db/database-errors.ts';
import { InvalidCursor } from '../reading/query-log-cursor.ts';
import type { ScanFailure } from './scan-messages.ts';

/** The error as data. */
export function toFailure(error: unknown): ScanFailure {
  const message = reasonOf(error);
  if (error instanceof InvalidCursor) return { kind: 'invalid-cursor', message };
  if (error instanceof DatabaseBusy) return { kind: 'database-busy', message };
  if (error instanceof DatabaseUnavailable) {
    const { reason } = error;
    return { kind: 'database-unavailable', message, reason };
  }
  return { kind: 'bug', message, stack: (error instanceof Error && error.stack) || message };
}

/** The data as an error again. */
export function fromFailure(failure: ScanFailure): Error {
  switch (failure.kind) {
    case 'invalid-cursor':
      return new InvalidCursor(failure.message);
    case 'database-busy':
      return new DatabaseBusy(failure.message);
    case 'database-unavailable':
      return new DatabaseUnavailable(failure.message, { reason: failure.reason });
    case 'bug': {
      const error = new Error(failure.message);
      error.stack = failure.stack;
      return error;
    }
  }
}
