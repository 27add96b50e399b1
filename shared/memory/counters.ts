/**
 * Counters of one thread in shared memory: f64 slots that only this thread writes and the control plane reads. They
 * never decrease; a replacement continues where the dead thread stopped.
 */
import { QUERY_STATUS_NAMES } from '../query-log.ts';

/** Slots, f64 each. */
export const Counter = {
  /** Queries answered, all protocols. */
  QUERIES: 0,
  /** Datagrams and messages of each class that got no answer or an error at once. */
  DROPPED_SHORT_OR_RESPONSE: 1,
  FORMAT_ERRORS: 2,
  NOT_IMPLEMENTED: 3,
  REFUSED: 4,
  /** Exceptions caught for one packet: bugs. */
  INTERNAL_ERRORS: 5,
  /** Questions that found the resolver's ring full. */
  UNRESOLVED_DROPPED: 6,
  /** Answers over UDP that the kernel refused to send, e.g. because of their address. */
  SEND_ERRORS: 7,
  CACHE_HITS: 8,
  CACHE_MISSES: 9,
  CACHE_STALE_HITS: 10,
  /** Refreshes of popular names ahead of their expiry. */
  CACHE_REFRESHES: 11,
  RECEIVE_BATCHES: 12,
  /** Answers over UDP that found the socket's send buffer full: e.g. of packets to addresses that do not resolve. */
  SEND_BUFFER_FULL: 13,
  /** First of the slots per QueryStatus. */
  FIRST_STATUS: 16,
} as const;

/** Bytes of a thread's counters. */
export const COUNTERS_BYTES = (Counter.FIRST_STATUS + QUERY_STATUS_NAMES.length) * 8;
