/**
 * Why the database cannot be used, in a few words that name no server, role or address: a caller without a session may
 * read them. Codes are SQLSTATEs (PostgreSQL, Appendix A) and those of Node.
 */
import { codeOf } from '../../shared/thrown.ts';

/** Completes "the database cannot be used: ". */
export type UnavailableReason =
  | 'it has no connection left (max_connections, or CONNECTION LIMIT of the role or the database)'
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

/** By the beginning of the code; the first match counts. */
const BY_CODE: readonly (readonly [RegExp, UnavailableReason])[] = [
  [/^53300$/, 'it has no connection left (max_connections, or CONNECTION LIMIT of the role or the database)'],
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

/** What pg reports by message only. */
const BY_MESSAGE: readonly (readonly [RegExp, UnavailableReason])[] = [
  [/^The server does not support SSL/, 'it does not accept TLS'],
  [/^(read-only|server became read-only)$/, 'it is read-only'],
  [
    /^(server does not answer|timeout expired|Connection terminated due to connection timeout)/,
    'it does not answer',
  ],
];

/** The reason that an error, or what caused it, stands for; of several the first; null = none that is known. */
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
