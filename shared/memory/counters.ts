/**
 * Counters of one thread in shared memory: f64 slots that only this thread writes and the control plane reads. They
 * never decrease; a replacement continues where the dead thread stopped. `answer-counters.ts` has those of answers.
 */

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
  /** By how much the once-a-second beats of a resolve thread's event loop were late, milliseconds; and the beats. */
  LOOP_LAG_MS: 14,
  LOOP_BEATS: 15,
  /** Stream connections that were closed at once: over a limit. */
  STREAMS_REFUSED: 16,
  /** Stream connections and datagrams without the PROXY header that was due, or with one that was not. */
  PROXY_HEADERS_REFUSED: 17,
  /** TLS handshakes that were begun, and those that failed. */
  TLS_HANDSHAKES: 18,
  TLS_HANDSHAKES_FAILED: 19,
  /** Messages of clients that may not ask, whether they were answered REFUSED or not at all; and their connections. */
  REFUSED_CLIENTS: 20,
  /** Queries that the log leaves out because of their client or name, that statistics do, and that both do. */
  EXCLUDED_FROM_LOG: 21,
  EXCLUDED_FROM_STATS: 22,
  EXCLUDED_FROM_BOTH: 23,
} as const;

/** Slot of the queries that these `Exclusion` bits, at least one, leave out. */
export function excludedSlot(exclusion: number): number {
  return Counter.EXCLUDED_FROM_LOG - 1 + exclusion;
}

/** Slots before those of `answer-counters.ts`, with room for more. */
export const SINGLE_SLOTS = 32;
