/**
 * Every message between the control plane and the thread that reads the query log. All messages are plain data. A
 * request gets exactly one reply, a result or a failure; the rows of an export are sent in parts before the reply.
 */
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import type { SentLine } from '../../../shared/threads/sent-logger.ts';
import { reasonOf } from '../../../shared/errors.ts';
import type { SentTarget } from '../../storage/db/database-target.ts';
import {
  DatabaseBusy,
  DatabaseUnavailable,
  type UnavailableReason,
} from '../../storage/db/database-errors.ts';
import { InvalidCursor } from '../reading/query-log-cursor.ts';
import type { Answers, Question, QuestionName } from './questions.ts';

/** Reason why a request failed. */
export type ScanFailure =
  | { readonly kind: 'invalid-cursor'; readonly message: string }
  | {
      readonly kind: 'database-unavailable';
      readonly message: string;
      readonly reason: UnavailableReason | null;
    }
  /** The database is reachable, but too slow; the message is shown to users. */
  | { readonly kind: 'database-busy'; readonly message: string }
  /** An internal error of Weir. */
  | { readonly kind: 'bug'; readonly message: string; readonly stack: string };

/** Messages from the control plane to the thread. */
export type ToScans =
  | { readonly type: 'ask'; readonly id: number; readonly question: Question; readonly server: SentTarget }
  /** The thread may send another part of rows. */
  | { readonly type: 'more'; readonly id: number }
  | { readonly type: 'cancel'; readonly id: number }
  /** The database was lost, so pending requests must fail immediately. */
  | { readonly type: 'database-lost' }
  /** The thread must close its connections and end. */
  | { readonly type: 'end' };

/** Messages from the thread to the control plane. */
export type FromScans =
  | { readonly type: 'part'; readonly id: number; readonly rows: readonly LoggedQuery[] }
  | { readonly type: 'answer'; readonly id: number; readonly answer: Answers[QuestionName] }
  | { readonly type: 'failure'; readonly id: number; readonly failure: ScanFailure }
  | { readonly type: 'damaged'; readonly block: string; readonly reason: string }
  | SentLine;

/** Maximum number of unacknowledged parts of rows. */
export const PARTS_AHEAD = 4;

/** The error as data. */
export function toFailure(error: unknown): ScanFailure {
  const message = reasonOf(error);
  if (error instanceof InvalidCursor) return { kind: 'invalid-cursor', message };
  if (error instanceof DatabaseBusy) return { kind: 'database-busy', message };
  if (error instanceof DatabaseUnavailable)
    return { kind: 'database-unavailable', message, reason: error.reason };
  return { kind: 'bug', message, stack: (error instanceof Error && error.stack) || message };
}

/** Converts the data back to an error. */
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
