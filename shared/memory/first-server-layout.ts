/**
 * The servers that a worker's answer thread queries itself, and their results. The resolve thread writes the servers
 * (`dns-worker/resolve/first-server-writer.ts`); the answer thread counts its queries and measures response times
 * (`dns-worker/first-try/`). Each word has one writer, except that the resolve thread clears the counts when the
 * servers change.
 */
import { LATENCY_CLASSES } from './answer-counters.ts';

/** Maximum number of servers. */
export const MAX_FIRST_SERVERS = 32;

/** i32 words of the header. */
export const FirstServersHead = {
  /** Sequence number, odd while the resolve thread writes. */
  SEQUENCE_WORD: 0,
  /** Identifies the resolver whose servers were written: indexes of servers are valid within one resolver. */
  RESOLVER_WORD: 1,
  /** Number of servers that the answer thread may query; 0 = it queries no servers. */
  COUNT_WORD: 2,
  /** Index into `POOL_STRATEGIES`. */
  STRATEGY_WORD: 3,
  /** Positions of these servers, in the order in which they are queried. */
  ORDER_WORD: 16,
  SERVERS_BYTE: (16 + MAX_FIRST_SERVERS) * 4,
} as const;

/** Number of latencies stored per server. */
export const RECENT_LATENCIES = 64;

/** Byte offsets in the record of one server. */
export const FirstServerRecord = {
  /** 16 bytes: address of the server. */
  ADDRESS: 0,
  /** i32: port of the server. */
  PORT: 16,
  /** i32: index of the server in the resolver. */
  NUMBER: 20,
  /** i32: limits of the wait for the server's answer, in milliseconds. */
  MIN_WAIT_MS: 24,
  MAX_WAIT_MS: 28,
  /** i32: number of queries that the answer thread has sent to the server, and number of good answers; both wrap. */
  ASKED: 32,
  ANSWERED: 36,
  /** i32: number of questions that only other servers answered in time; wraps. */
  SILENT: 40,
  /**
   * f64: time of the server's last answer (`Clock.monotonicMs`), 0 = never; and the sum of all latencies in
   * milliseconds.
   */
  LAST_ANSWER_MS: 48,
  SUM_MS: 56,
  /** f32: recent latencies in milliseconds; answer n is at n modulo `RECENT_LATENCIES`. */
  RECENT: 64,
  /** i32: answers by class of latency; they wrap. */
  CLASSES: 64 + RECENT_LATENCIES * 4,
  SIZE: (64 + (RECENT_LATENCIES + LATENCY_CLASSES) * 4 + 7) & ~7,
} as const;

/** Offset of the record of a server, in bytes. */
export function firstServerAt(place: number): number {
  return FirstServersHead.SERVERS_BYTE + place * FirstServerRecord.SIZE;
}

/** Creates the memory, without servers. */
export function createFirstServers(): SharedArrayBuffer {
  return new SharedArrayBuffer(firstServerAt(MAX_FIRST_SERVERS));
}
