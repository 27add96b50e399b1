/**
 * Features of each upstream server, in memory that all resolve threads of a node share, so that all threads know what
 * one thread has found. A record belongs to an address, port and transport, and is never freed; if the table is full, a
 * server gets a record in its thread's own memory. `dns-worker/resolve/capability/` reads and writes records.
 */

/** Size of the table: its number of records, and the i32 words of each. */
export const CapabilityTable = { RECORDS: 512, RECORD_WORDS: 64 } as const;

/** i32 words of a record. Times are seconds of the monotonic clock unless stated otherwise. */
export const CapabilityWord = {
  /** `RecordState`; the key is complete if it is READY. */
  STATE: 0,
  /** Key of a record: address (4 words), port and transport (1 word). */
  KEY: 1,
  KEY_WORDS: 5,
  /** Time at which the next probes are due; a thread that probes advances it. */
  PROBE_DUE: 8,
  /** Start of the last pair of probes, milliseconds in 32 bits, never 0; 0 = none yet. */
  PAIR_MS: 9,
  /** Finding about a feature: `FEATURE_WORDS` for each, in the order of `FeatureOrder`. */
  FEATURES: 12,
  /** Time at which an OPT record was last seen, plus one; 0 = never. */
  EDNS_SEEN: 36,
  EDNS_CLEAR_UNTIL: 37,
  EDNS_REFUSALS: 38,
  /**
   * Answers per connection before the server closes it, 0 = no limit was seen; and the time at which this finding
   * expires.
   */
  ANSWERS: 40,
  ANSWERS_UNTIL: 41,
  /** Sequence number of the cookie, odd while a thread writes it. */
  COOKIE_SEQUENCE: 44,
  /** Size of the server cookie; 0 = unknown. */
  COOKIE_SIZE: 45,
  COOKIE_SINCE: 46,
  /** The client cookie (2 words), then the server cookie (8). */
  COOKIE: 48,
  COOKIE_WORDS: 10,
} as const;

/** Positions of the words for one feature. */
export const FeatureWord = {
  /** Code of the finding (`FINDINGS`). */
  FINDING: 0,
  /** Time at which the finding expires. */
  UNTIL: 1,
  /** Number of pairs of probes in which only the plain probe was answered, and the time of the first pair. */
  STRIKES: 2,
  STRIKE_AT: 3,
  /** Time at which a pair last showed that the feature works, as in `PAIR_MS`. */
  FIT_MS: 4,
  WORDS: 6,
} as const;

/** States of a record. LOST = a thread died while it wrote the key. */
export const RecordState = { FREE: 0, TAKEN: 1, READY: 2, LOST: 3 } as const;

/** Creates the memory, with no records. */
export function createCapabilityTable(records: number = CapabilityTable.RECORDS): SharedArrayBuffer {
  return new SharedArrayBuffer(records * CapabilityTable.RECORD_WORDS * 4);
}
