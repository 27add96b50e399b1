/** The outcome of a question to upstream servers. */
import type { DnssecStatusCode } from '../../shared/query-log.ts';
import type { CacheableAnswer } from './response/response-reader.ts';

/** A server's answer. `upstream` is an index into the resolver's upstreams. */
export interface Answered {
  readonly kind: 'answer';
  readonly answer: CacheableAnswer;
  readonly upstream: number;
  /** Result of validation; absent if the answer was not validated. */
  readonly dnssec?: DnssecStatusCode;
  /** Share of the validation budget that was spent; 1 = all of it. */
  readonly cost?: number;
}

/** A failure: there is no answer. `upstream` is -1 if no server was queried. */
export interface Failed {
  readonly kind: 'failed';
  readonly reason:
    | 'timeout'
    | 'servfail'
    | 'refused'
    | 'network'
    /** A server sent an unusable answer: too long, an endless chain, or malformed. */
    | 'unusable'
    | 'no-upstreams'
    /** This machine lacked a resource; the failure says nothing about the question, so nothing is cached. */
    | 'overloaded'
    /**
     * The time limit passed while another thread was resolving the question; this also says nothing about the question.
     */
    | 'late'
    | 'bogus';
  /** Response code for the client. */
  readonly rcode: number;
  readonly upstream: number;
  readonly dnssec?: DnssecStatusCode;
  /** Reason why validation failed (RFC 8914). */
  readonly extendedError?: number;
}

/** The outcome of a question. */
export type Resolution = Answered | Failed;

/** A failure that no server caused: it affects only one request, so it is neither stored nor shared. */
export function isInconclusive(resolution: Resolution): boolean {
  if (resolution.kind === 'answer') return false;
  const { reason, upstream } = resolution;
  // The run was cancelled because its thread ends or its pools were replaced.
  return reason === 'overloaded' || reason === 'late' || (reason === 'network' && upstream < 0);
}
