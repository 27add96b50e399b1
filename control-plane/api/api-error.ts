/**
 * Errors that stores, features and routes may throw to end a request with a specific response. `problem.ts` renders
 * them; other errors are bugs (500), except for an unavailable database.
 */
import { REFUSAL_LINES } from '../../shared/api/client/faults/refusal-lines.ts';
import type { RefusalCode } from '../../shared/api/client/faults/refusal-lines.ts';
import type {
  Dependency,
  FieldProblem,
  ProblemCode,
  TooManyCode,
  UnauthorizedCode,
} from '../../shared/api/problem-details.ts';

/** A change that is stored in the database although its request failed. */
export interface StoredChange {
  /** Id of the revision; null if revisions do not include the change, or if it changed nothing. */
  readonly revision: number | null;
}

/** Additional data of an error. */
export interface ApiErrorExtras {
  /** Invalid fields, for status 400. */
  readonly fields?: readonly FieldProblem[];
  /** Header fields of the response, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Set if the requested change is stored in the database although the request failed. */
  readonly stored?: StoredChange;
  /** The unavailable dependency, for `dependency_unavailable`. */
  readonly dependency?: Dependency;
  readonly cause?: unknown;
}

/** Ends the request with `status` and `code`; `detail` is shown to users and must not contain secrets. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: ProblemCode;
  readonly fields: readonly FieldProblem[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly stored: StoredChange | undefined;
  readonly dependency: Dependency | undefined;

  constructor(status: number, code: ProblemCode, detail: string, extras: ApiErrorExtras = {}) {
    super(detail, { cause: extras.cause });
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.fields = extras.fields;
    this.headers = extras.headers ?? {};
    this.stored = extras.stored;
    this.dependency = extras.dependency;
  }
}

/** 400: some fields are invalid; lists each with the reason. */
export function invalid(fields: readonly FieldProblem[]): ApiError {
  const named = fields.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  return new ApiError(400, 'invalid', named.join('; '), { fields });
}

/** 400: the body refers to an object that does not exist. `path` is the field, `what` the kind of object. */
export function unknownReference(path: string, what: string): ApiError {
  return invalid([{ path, message: `expected the id of an existing ${what}` }]);
}

/** 404: the object does not exist; `what` is its kind and id. */
export function notFound(what: string): ApiError {
  return new ApiError(404, 'not_found', `${what} does not exist`);
}

/** 409: the request is valid, but conflicts with existing data. */
export function conflict(detail: string): ApiError {
  return new ApiError(409, 'conflict', detail);
}

/** 412: the stored state differs from the state that the request expects. */
export function preconditionFailed(detail: string): ApiError {
  return new ApiError(412, 'precondition_failed', detail);
}

/** 403: the caller is known, but lacks the right. */
export function forbidden(reason: RefusalCode): ApiError {
  return new ApiError(403, 'forbidden', REFUSAL_LINES[reason]);
}

/** 403: a request from another machine sets the first password, but the setup code is missing or wrong. */
export function setupCodeRequired(isMissing: boolean): ApiError {
  const detail =
    `${isMissing ? 'setup from another machine requires setup_code' : 'setup_code is wrong'}; the code ` +
    'is in the log since the last start, and in the file setup-code of the data directory';
  return new ApiError(403, 'setup_code_required', detail);
}

/** All accepted authentication schemes. */
export const CHALLENGE = 'Session realm="weir", ApiKey realm="weir", Bearer realm="weir"';

/** 401: no valid session or token. RFC 9110 section 11.6.1 requires the challenge. */
export function unauthorized(detail: string, code: UnauthorizedCode = 'unauthorized'): ApiError {
  const headers = { 'WWW-Authenticate': CHALLENGE };
  return new ApiError(401, code, detail, { headers });
}

/** 429: too many requests; the client may retry in `retryAfterSecs`. */
export function tooMany(code: TooManyCode, detail: string, retryAfterSecs: number): ApiError {
  const secs = Math.max(1, Math.ceil(retryAfterSecs));
  return new ApiError(429, code, detail, { headers: { 'Retry-After': String(secs) } });
}

/** 503: a dependency other than the database is unavailable; `detail` describes it. */
export function dependencyUnavailable(
  dependency: Dependency,
  detail: string,
  extras: Omit<ApiErrorExtras, 'dependency'> = {},
): ApiError {
  return new ApiError(503, 'dependency_unavailable', detail, { ...extras, dependency });
}

/** 503: the server is overloaded; the client may retry in `retryAfterSecs`. */
export function overloaded(detail: string, retryAfterSecs: number, cause?: unknown): ApiError {
  return new ApiError(503, 'busy', detail, { headers: { 'Retry-After': String(retryAfterSecs) }, cause });
}

/**
 * 503: a change is stored, but not active yet; contains the reason. There is no Retry-After, because the change must
 * not be sent again. The detail must not contain secrets, so the cause is only logged.
 */
export function notActive(reason: string, revision: number | null, cause?: unknown): ApiError {
  const detail = `the change is stored, but ${reason}; Weir applies it as soon as it can`;
  return new ApiError(503, 'not_in_force', detail, { stored: { revision }, cause });
}
