/**
 * Features of each upstream server, in memory that all resolve threads of a node share: a thread that has learned
 * something has learned it for all. A record belongs to an address, port and transport, and is never freed; a server
 * that finds no free record has one in its thread. `dns-worker/resolve/capability/` reads and writes records.
 */

/** Records of the table. */
export const CapabilityTable = { RECORDS: 512, RECORD_WORDS: 64 } as const;

/** i32 words of a record. Times are seconds of the monotonic clock unless said. */
export const CapabilityWord = {
  /** `RecordState`; the key is complete once it is READY. */
  STATE: 0,
  /** Address (4), port and transport (1). */
  KEY: 1,
  KEY_WORDS: 5,
  /** When the next probes are due; a thread that probes moves it. */
  PROBE_DUE: 8,
  /** When the last pair of probes began, milliseconds in 32 bits, never 0; 0 = there was none. */
  PAIR_MS: 9,
  /** Finding about a feature: `FEATURE_WORDS` for each, by `FeatureOrder`. */
  FEATURES: 12,
  /** When an OPT record was last seen, plus one; 0 = never. */
  EDNS_SEEN: 36,
  EDNS_CLEAR_UNTIL: 37,
  EDNS_REFUSALS: 38,
  /** Answers that a connection gives before the server closes it; 0 = no limit was seen. And until when that counts. */
  ANSWERS: 40,
  ANSWERS_UNTIL: 41,
  /** Odd while a thread writes the cookie. */
  COOKIE_SEQUENCE: 44,
  /** Bytes of the server's cookie; 0 = none is known. */
  COOKIE_SIZE: 45,
  COOKIE_SINCE: 46,
  /** The client's cookie (2 words), then the server's (8). */
  COOKIE: 48,
  COOKIE_WORDS: 10,
} as const;

/** Words of one feature. */
export const FeatureWord = {
  /** A code of `FINDINGS`. */
  FINDING: 0,
  /** When the finding expires. */
  UNTIL: 1,
  /** Pairs of probes in which only the plain one was answered, and when the first of them was. */
  STRIKES: 2,
  STRIKE_AT: 3,
  /** When a pair last showed that the feature works, as in `PAIR_MS`. */
  FIT_MS: 4,
  WORDS: 6,
} as const;

/** States of a record. A thread that died as it wrote the key has left its record LOST. */
export const RecordState = { FREE: 0, TAKEN: 1, READY: 2, LOST: 3 } as const;

/** Creates the memory, with no records. */
export function createCapabilityTable(records: number = CapabilityTable.RECORDS): SharedArrayBuffer {
  return new SharedArrayBuffer(records * CapabilityTable.RECORD_WORDS * 4);
}
