/**
 * Counters of one thread in shared memory: f64 slots that only this thread writes and the control plane reads. Counters
 * never decrease; a replacement thread continues with the values of the dead thread. `answer-counters.ts` has the
 * counters of answers.
 */

/** Slots, f64 each. */
export const Counter = {
  /** Queries answered, over all protocols. */
  QUERIES: 0,
  /** Datagrams and messages that were immediately dropped or answered with an error, by class. */
  DROPPED_SHORT_OR_RESPONSE: 1,
  FORMAT_ERRORS: 2,
  NOT_IMPLEMENTED: 3,
  REFUSED: 4,
  /** Exceptions while handling a packet: bugs. */
  INTERNAL_ERRORS: 5,
  /** Questions that were dropped because the resolver's ring was full. */
  UNRESOLVED_DROPPED: 6,
  /** UDP answers that the kernel refused to send, e.g. because of their address. */
  SEND_ERRORS: 7,
  CACHE_HITS: 8,
  CACHE_MISSES: 9,
  CACHE_STALE_HITS: 10,
  /** Refreshes of popular names before they expire. */
  CACHE_REFRESHES: 11,
  RECEIVE_BATCHES: 12,
  /**
   * UDP answers that were dropped because the socket's send buffer was full, e.g. of packets to addresses that do not
   * resolve.
   */
  SEND_BUFFER_FULL: 13,
  /**
   * Total lag of the one-second timer in a resolve thread's event loop, in milliseconds; and the number of calls of
   * this timer.
   */
  LOOP_LAG_MS: 14,
  LOOP_BEATS: 15,
  /** Stream connections that were refused because of a limit. */
  STREAMS_REFUSED: 16,
  /**
   * Stream connections and datagrams that were refused because they lack a required PROXY header, or have a forbidden
   * one.
   */
  PROXY_HEADERS_REFUSED: 17,
  /** TLS handshakes started, and handshakes failed. */
  TLS_HANDSHAKES: 18,
  TLS_HANDSHAKES_FAILED: 19,
  /** Messages and connections of refused clients, whether they got REFUSED or no answer. */
  REFUSED_CLIENTS: 20,
  /**
   * Queries that are excluded because of their client or name: only from the log, only from statistics, or from both.
   */
  EXCLUDED_FROM_LOG: 21,
  EXCLUDED_FROM_STATS: 22,
  EXCLUDED_FROM_BOTH: 23,
} as const;

/** Slot of the queries with these `Exclusion` bits, at least one of which is set. */
export function excludedSlot(exclusion: number): number {
  return Counter.EXCLUDED_FROM_LOG - 1 + exclusion;
}

/** Slots before those of `answer-counters.ts`, with space for future counters. */
export const SINGLE_SLOTS = 32;
