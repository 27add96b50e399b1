/**
 * Counters of one thread in shared memory: f64 slots that only this thread writes and the control plane reads. They
 * never decrease; a replacement continues where the dead thread stopped.
 */
import { Exclusion, PROTOCOL_NAMES } from '../query-log.ts';

/** Slots of one protocol's statuses; a power of two with room for statuses to come. */
export const STATUS_SLOTS = 32;
/**
 * Classes of response times: class k has those below 2^k us that no lower class has, the last one also what is slower.
 * 2^24 us are 17 s, more than any question may take.
 */
export const LATENCY_CLASSES = 25;

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
  /** Sum of the response times of all answered queries, microseconds. */
  RESPONSE_TIME_US: 14,
  /** By how much the once-a-second beats of a resolve thread's event loop were late, milliseconds; and the beats. */
  LOOP_LAG_MS: 41,
  LOOP_BEATS: 42,
  /** Stream connections that were closed at once: over a limit. */
  STREAMS_REFUSED: 43,
  /** Stream connections and datagrams without the PROXY header that was due, or with one that was not. */
  PROXY_HEADERS_REFUSED: 44,
  /** TLS handshakes that were begun, and those that failed. */
  TLS_HANDSHAKES: 45,
  TLS_HANDSHAKES_FAILED: 46,
  /** Messages of clients that may not ask, whether they were answered REFUSED or not at all; and their connections. */
  REFUSED_CLIENTS: 47,
  /** First of the slots per class of response times. */
  FIRST_LATENCY: 16,
  /** First of the slots per Protocol and QueryStatus, see `answeredSlot`. */
  FIRST_ANSWERED: 48,
} as const;

/** Slot of the queries that are left out of the log, of statistics, or of both, by `Exclusion` bits. */
export function excludedSlot(exclusion: number): number {
  return Counter.FIRST_ANSWERED + PROTOCOL_NAMES.length * STATUS_SLOTS + exclusion;
}

/** Bytes of a thread's counters. */
export const COUNTERS_BYTES = (excludedSlot(Exclusion.BOTH) + 1) * 8;

/** Slot of the queries that came by this protocol and ended so. */
export function answeredSlot(protocol: number, status: number): number {
  return Counter.FIRST_ANSWERED + protocol * STATUS_SLOTS + status;
}

/** Slot of the queries that were answered within these microseconds. */
export function latencySlot(responseTimeUs: number): number {
  const latencyClass = 32 - Math.clz32(responseTimeUs);
  return Counter.FIRST_LATENCY + (latencyClass < LATENCY_CLASSES ? latencyClass : LATENCY_CLASSES - 1);
}

/** Queries of a thread that ended so, whichever way they came. */
export function answeredWith(counters: Float64Array, status: number): number {
  return PROTOCOL_NAMES.reduce((sum, _name, protocol) => sum + counters[answeredSlot(protocol, status)]!, 0);
}
