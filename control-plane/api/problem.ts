/**
 * Writes every error response of the API, as problem details (RFC 9457). The code that throws chooses the status
 * (`api-error.ts`), except for unexpected errors.
 */
import type { NextFunction, Request, Response } from 'express';
import type { Problem } from '../../shared/api/problem-details.ts';
import { nodeHttp } from '../../shared/lazy-builtins.ts';
import type { Logger } from '../../shared/log.ts';
import { reasonOf } from '../../shared/errors.ts';
import { ApiError, overloaded } from './api-error.ts';
import { DatabaseBusy, DatabaseUnavailable, OutcomeUnknown } from '../storage/db/database-errors.ts';

/** Seconds after which a client may retry while the database is down. */
const DATABASE_RETRY_SECS = 5;

/** Message if the commit of a change was not confirmed. */
const OUTCOME_UNKNOWN =
  'the connection to the database was lost while the change was being stored; check whether it was ' +
  'stored before you repeat the request';

/** Writes `error` as the response; does nothing if a response has already been sent. */
export function sendProblem(response: Response, error: ApiError): void {
  if (response.headersSent) return;
  const body: Problem = {
    type: 'about:blank',
    title: nodeHttp().STATUS_CODES[error.status] ?? 'Error',
    status: error.status,
    detail: error.message,
    error: error.code,
    ...(error.fields === undefined ? {} : { errors: [...error.fields] }),
    ...(error.dependency === undefined ? {} : { dependency: error.dependency }),
    ...(error.stored === undefined ? {} : { stored: true }),
    ...(typeof error.stored?.revision === 'number' ? { revision: error.stored.revision } : {}),
  };
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
  response.status(error.status).type('application/problem+json').send(JSON.stringify(body));
}

/** The last middleware: renders thrown errors, and logs unexpected ones. */
export function problemHandler(logger: Logger) {
  return (thrown: unknown, request: Request, response: Response, _next: NextFunction): void => {
    const error = toApiError(thrown);
    logFailure(logger, thrown, request);
    if (response.headersSent) response.destroy();
    else sendProblem(response, error);
  };
}

/** Logs an error that the client did not cause. */
export function logFailure(logger: Logger, thrown: unknown, { method, path }: Request): void {
  const { status, code } = toApiError(thrown);
  if (status < 500) return;
  // No stack trace for an unavailable database: it is not a bug, and stack traces would fill the log.
  const fields = { method, path, error: status === 503 ? reasonsOf(thrown) : describe(thrown) };
  if (code === 'unavailable') logger.warn('http request failed: database unavailable', fields);
  else if (code === 'dependency_unavailable') logger.warn('http request failed', fields);
  else if (code === 'busy') logger.warn('http request failed: busy', fields);
  else logger.error('http request failed', fields);
}

/** The error to send for a thrown error; 500 if it is unexpected. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  // Without Retry-After, because a retry could make the change twice.
  if (thrown instanceof OutcomeUnknown)
    return new ApiError(503, 'outcome_unknown', OUTCOME_UNKNOWN, { cause: thrown });
  if (thrown instanceof DatabaseUnavailable) {
    if (thrown instanceof DatabaseBusy) return overloaded(thrown.message, DATABASE_RETRY_SECS, thrown);
    const headers = { 'Retry-After': String(DATABASE_RETRY_SECS) };
    return new ApiError(503, 'unavailable', unavailableDetail(thrown), { headers, cause: thrown });
  }
  // The path is not percent-encoded UTF-8; Express throws an error that contains a status.
  if (thrown instanceof URIError)
    return new ApiError(400, 'malformed', 'the path is not percent-encoded UTF-8');
  return new ApiError(500, 'internal', 'internal error; see the log of Weir', {
    cause: thrown,
  });
}

/** The text must not contain the database server, because callers without a session can read it. */
function unavailableDetail({ reason }: DatabaseUnavailable): string {
  return `the database is not available${reason === null ? '' : `: ${reason}`}`;
}

/** The messages of an error and its causes. */
function reasonsOf(thrown: unknown): string {
  if (!(thrown instanceof Error) || thrown.cause === undefined) return reasonOf(thrown);
  const [reason, cause] = [reasonOf(thrown), reasonsOf(thrown.cause)];
  return reason.includes(cause) ? reason : `${reason} <- ${cause}`;
}

function describe(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause === undefined
    ? (thrown.stack ?? thrown.message)
    : `${thrown.stack} <- ${describe(thrown.cause)}`;
}
