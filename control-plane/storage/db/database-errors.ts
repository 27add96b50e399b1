/**
 * Classifies database errors for the rest of Weir: the database is unavailable (503, spool, retry), or a constraint is
 * violated (409). All other errors are bugs and are thrown unchanged.
 */
import { codeOf } from '../../../shared/errors.ts';
import { AccessFault } from './access/server-access.ts';

/** Error: the database currently cannot be used. The same call may succeed later. */
export class DatabaseUnavailable extends Error {
  override readonly name: string = 'DatabaseUnavailable';
  /** Reason that may be shown without a session, see `unavailableReason`; null = unknown. */
  readonly reason: UnavailableReason | null;

  constructor(message: string, options: { cause?: unknown; reason?: UnavailableReason | null } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.reason = options.reason ?? unavailableReason(options.cause);
  }
}

/** Error: the server can be reached, but a new connection could not be opened. Open connections may still work. */
export class ConnectionRefused extends DatabaseUnavailable {
  override readonly name = 'ConnectionRefused';
}

/** Error: the database is up but overloaded; the message explains how. */
export class DatabaseBusy extends DatabaseUnavailable {
  override readonly name = 'DatabaseBusy';
}

/** Error: the connection was lost during a commit, so it is unknown whether the transaction was stored. */
export class OutcomeUnknown extends DatabaseUnavailable {
  override readonly name = 'OutcomeUnknown';
}

/**
 * SQLSTATE classes and codes of errors of the server, not of the statement: connection (08), authorization (28), no
 * such database (3D), disk full and too many connections (53), shutdown and start-up (57P), system errors (58), a
 * server that became read-only (25006).
 */
const SERVER_FAULT = /^(08|28|3D|53|57P|58|25006)/;

/** Those of these codes after which existing connections remain usable. */
const FULL_OR_BUSY = /^(53|58)/;

const SOCKET_FAULTS: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
]);

const LOCK_TIMEOUT = '55P03';
/** Timeouts that pg only reports by message: of a statement, and of opening a connection. */
const NO_ANSWER = /^(Query read timeout|Connection terminated due to connection timeout)/;

/** Errors that pg only reports by message. */
const CLIENT_FAULT =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Query read timeout|Cannot use a pool after|The server does not support SSL)/;

/** Whether an error is caused by the server, not by the statement. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable || error instanceof AccessFault) return true;
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (SOCKET_FAULTS.has(code) || SERVER_FAULT.test(code) || CLIENT_FAULT.test(error.message)) return true;
  // A Unix socket that is missing or inaccessible. `connect` is checked, because other missing files give the same
  // codes.
  return (code === 'ENOENT' || code === 'EACCES') && 'syscall' in error && error.syscall === 'connect';
}

/**
 * Whether existing connections are lost after an error of the server: after all such errors, except a full disk and a
 * refused new connection.
 */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof ConnectionRefused) return false;
  return !(error instanceof Error && FULL_OR_BUSY.test(codeOf(error)));
}

/** Whether a statement violated a unique constraint or index, optionally the one with the given name. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return breaks(error, '23505', constraint);
}

/** Whether a statement violated a foreign key: the row is in use, or the referenced row does not exist. */
export function isForeignKeyViolation(error: unknown, constraint?: string): boolean {
  // PostgreSQL 18 reports ON DELETE RESTRICT (23001) separately from the other violations, older versions do not.
  return breaks(error, '23503', constraint) || breaks(error, '23001', constraint);
}

/** Whether a statement was cancelled because it exceeded `statement_timeout`. */
export function isStatementTimeout(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === '57014';
}

/** Whether a pool had no free connection in time. */
export function isPoolTimeout(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('timeout exceeded when trying to connect');
}

/**
 * Whether the server was overloaded: no pooled or new connection in time, a lock that another transaction held
 * (SQLSTATE 55P03), or a statement timeout. The server may still be alive.
 */
export function isBusy(error: unknown): boolean {
  if (error instanceof DatabaseBusy || isPoolTimeout(error)) return true;
  return isLockTimeout(error) || (error instanceof Error && NO_ANSWER.test(error.message));
}

/** Whether another transaction held a lock for longer than `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === LOCK_TIMEOUT;
}

/** Whether the server aborted a transaction because of a conflict, so that an immediate retry may succeed. */
export function isConflict(error: unknown): boolean {
  return error instanceof Error && /^(40001|40P01)$/.test(codeOf(error));
}

/**
 * Whether a cached plan no longer matches its tables because a node with a newer schema has changed them: a new
 * connection creates new plans.
 */
export function isStalePlan(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === '0A000' && /^cached plan/.test(error.message);
}

/** Whether the values themselves cannot be stored (SQLSTATE classes 22 and 23), so that a retry cannot succeed. */
export function isDataError(error: unknown): boolean {
  return error instanceof Error && /^2[23][0-9A-Z]{3}$/.test(codeOf(error));
}

function breaks(error: unknown, sqlState: string, constraint: string | undefined): boolean {
  if (!(error instanceof Error) || codeOf(error) !== sqlState) return false;
  return constraint === undefined || ('constraint' in error && error.constraint === constraint);
}

/**
 * Short reason why the database cannot be used. The text completes "the database cannot be used: ". It does not mention
 * any server, role or address, because it may be shown without a session.
 */
export type UnavailableReason =
  | 'it has no free connection (max_connections, or CONNECTION LIMIT of the role or the database)'
  | 'its disk is full'
  | 'its certificate has expired'
  | 'its certificate is not valid'
  | 'it does not accept TLS'
  | 'it refuses the login'
  | 'it has no such database'
  | 'it is starting or stopping'
  | 'it is read-only'
  | 'it does not answer'
  | 'it cannot be reached';

/** Reasons by error code: SQLSTATEs (PostgreSQL, Appendix A) and error codes of Node. The first match applies. */
const BY_CODE: readonly (readonly [RegExp, UnavailableReason])[] = [
  [/^53300$/, 'it has no free connection (max_connections, or CONNECTION LIMIT of the role or the database)'],
  [/^(53100|ENOSPC|EDQUOT)$/, 'its disk is full'],
  [/^CERT_HAS_EXPIRED$/, 'its certificate has expired'],
  [/^(28|42501)/, 'it refuses the login'],
  [/^3D/, 'it has no such database'],
  [/^57P/, 'it is starting or stopping'],
  [/^25006$/, 'it is read-only'],
  [/^(ETIMEDOUT)$/, 'it does not answer'],
  [
    /^(ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EPIPE|08)/,
    'it cannot be reached',
  ],
  [
    /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_|ERR_SSL_|HOSTNAME_MISMATCH$)/,
    'its certificate is not valid',
  ],
];

/** Errors that pg only reports by message. */
const BY_MESSAGE: readonly (readonly [RegExp, UnavailableReason])[] = [
  [/^The server does not support SSL/, 'it does not accept TLS'],
  [/^(Connection terminated unexpectedly|Client has encountered a connection error)/, 'it cannot be reached'],
  [/^(read-only|the database server became read-only)$/, 'it is read-only'],
  [
    /^(the database server does not answer|timeout expired|Connection terminated due to connection timeout)/,
    'it does not answer',
  ],
];

/** The reason for an error, or for the first of its causes with a known reason; null = unknown. */
export function unavailableReason(error: unknown): UnavailableReason | null {
  if (!(error instanceof Error)) return null;
  if (error instanceof AggregateError) return firstReason(error.errors);
  const code = codeOf(error);
  const found =
    BY_CODE.find(([pattern]) => pattern.test(code)) ??
    BY_MESSAGE.find(([pattern]) => pattern.test(error.message));
  return found?.[1] ?? unavailableReason(error.cause);
}

function firstReason(errors: readonly unknown[]): UnavailableReason | null {
  for (const error of errors) {
    const reason = unavailableReason(error);
    if (reason !== null) return reason;
  }
  return null;
}
