/** Combines the results of the parts of an answer that were resolved separately. */
import { ExtendedError, Rcode } from '../../shared/dns/iana.ts';
import {
  DnssecStatus,
  type DnssecStatusCode,
  QueryStatus,
  type QueryStatusCode,
} from '../../shared/query-log.ts';
import { POOLS_PARTITION } from '../../shared/snapshot/forward-zone-servers.ts';
import type { Query } from '../query/query.ts';
import type { TargetAnswer } from './follow-alias.ts';

/** The result of a failed part, and so of the whole. */
export type Failure = Pick<TargetAnswer, 'rcode' | 'status' | 'extendedError'>;

/** Budgets of validation that a chain may have spent when it goes on: with the last step it costs three at most. */
export const MAX_CHAIN_COST = 2;

/** A chain without end, or one that costs too much. */
export const TOO_LONG: Failure = {
  rcode: Rcode.SERVFAIL,
  status: QueryStatus.SERVFAIL,
  extendedError: ExtendedError.OTHER,
};

/** A chain whose parts take longer than a question may. */
export const TOO_LATE: Failure = {
  rcode: Rcode.SERVFAIL,
  status: QueryStatus.TIMEOUT,
  extendedError: ExtendedError.NO_REACHABLE_AUTHORITY,
};

/** Statuses of an unanswered question. */
export function isFailure(status: QueryStatusCode): boolean {
  const { SERVFAIL, TIMEOUT, RATE_LIMITED } = QueryStatus;
  return status === SERVFAIL || status === TIMEOUT || status === RATE_LIMITED;
}

/** Whether a failure concerns the name, and not this request's time or a lack of resources on this machine. */
export function isLasting(failure: Failure): boolean {
  const { status, extendedError } = failure;
  return (
    failure !== TOO_LATE && status !== QueryStatus.RATE_LIMITED && extendedError !== ExtendedError.NOT_READY
  );
}

/**
 * Whether an answer may be cached that ends with this answer of its target. Local, stale and blocked answers may not,
 * since they may change at any time. Nor may private addresses of a public name in the partition of a forward zone,
 * where they would not be checked again.
 */
export function mayKeep({ status, partition, hasPrivateAddress: isPrivate }: Query, into: number): boolean {
  if (status !== QueryStatus.ALLOWED && status !== QueryStatus.CACHED) return false;
  return !isPrivate || partition !== POOLS_PARTITION || into === POOLS_PARTITION;
}

/** From weakest to strongest: the weakest part decides for the whole. */
const BY_STRENGTH: readonly DnssecStatusCode[] = [
  DnssecStatus.bogus,
  DnssecStatus.unchecked,
  DnssecStatus.indeterminate,
  DnssecStatus.insecure,
  DnssecStatus.secure,
];

/** The weaker of two states; one that is not known is unchecked. */
export function weaker(a: DnssecStatusCode, b: number): DnssecStatusCode {
  return BY_STRENGTH.find((state) => state === a || state === b) ?? DnssecStatus.unchecked;
}
