/** How a question to upstream servers ends. */
import type { DnssecStatusCode } from '../../shared/query-log.ts';
import type { CacheableAnswer } from './response/response-reader.ts';

/** A server's answer. `upstream` is an index into the resolver's upstreams. */
export interface Answered {
  readonly kind: 'answer';
  readonly answer: CacheableAnswer;
  readonly upstream: number;
  /** Result of the validation; absent if the answer was not validated. */
  readonly dnssec?: DnssecStatusCode;
  /** And the share that it took of what one question may cost; 1 = all of it. */
  readonly cost?: number;
}

/** There is no answer. `upstream` is -1 if no server was asked. */
export interface Failed {
  readonly kind: 'failed';
  readonly reason:
    | 'timeout'
    | 'servfail'
    | 'refused'
    | 'network'
    /** A server sent an unusable answer: too long, endless or malformed. */
    | 'unusable'
    | 'no-upstreams'
    /** This machine lacked a resource: nothing is known about the question, so nothing is cached. */
    | 'overloaded'
    /** The time was over while other threads asked: nothing is known about the question either. */
    | 'late'
    | 'bogus';
  /** Response code for the client. */
  readonly rcode: number;
  readonly upstream: number;
  readonly dnssec?: DnssecStatusCode;
  /** Reason why validation failed (RFC 8914). */
  readonly extendedError?: number;
}

/** How a question ended. */
export type Resolution = Answered | Failed;

/** A failure that no server caused: it concerns one request only, so it is neither kept nor shared. */
export function isInconclusive(resolution: Resolution): boolean {
  if (resolution.kind === 'answer') return false;
  const { reason, upstream } = resolution;
  // A run that was broken off, as this thread or its pools end.
  return reason === 'overloaded' || reason === 'late' || (reason === 'network' && upstream < 0);
}
