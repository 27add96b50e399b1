/**
 * Layout of the ring through which an answer thread passes questions that neither policy nor cache could answer to its
 * worker's resolve thread. The ring has one writer and one reader. A record contains what the reply needs (its
 * destination and source address) and the question; EDNS is stored as parsed fields.
 */

/** i32 words of the ring's header, each on a separate cache line. */
export const MissRing = {
  /** Number of records ever written; only the answer thread stores it. */
  HEAD_WORD: 0,
  /** Number of records ever taken; only the resolve thread stores it. */
  TAIL_WORD: 16,
  RECORDS_BYTE: 128,
  /** Capacity in records, a power of two. */
  CAPACITY: 4096,
} as const;

/** Byte offsets in a record. */
export const MissRecord = {
  SIZE: 440,
  /** f64: arrival, Unix milliseconds. */
  ARRIVED_MS: 0,
  /** f64: arrival, `Clock.monotonicMs`. */
  ARRIVED_MONOTONIC_MS: 384,
  /** i32: index of the socket that received the query. */
  SOCKET: 8,
  /** u16: client's UDP size; 0 = no EDNS. */
  UDP_SIZE: 16,
  /** u8: `MissFlags`. */
  FLAGS: 18,
  /** u8: bytes of the client's subnet; 0 = none. */
  ECS_LENGTH: 19,
  /** u8: bytes of the socket address; bytes of the control message with the local address. */
  NAME_LENGTH: 20,
  CONTROL_LENGTH: 21,
  /** u16: bytes of header and question. */
  MESSAGE_LENGTH: 22,
  /** struct sockaddr, at most 28 bytes. */
  NAME: 24,
  /** 16 bytes: client address; IPv4 as ::ffff:a.b.c.d. */
  CLIENT: 52,
  /** Control message, at most 40 bytes. */
  CONTROL: 72,
  /** Header and question: at most 12 + 255 + 4 bytes. */
  MESSAGE: 112,
  /** Data of the ECS option (RFC 7871), at most 20 bytes. */
  ECS: 392,
  /** The cookie of the reply (RFC 7873), 24 bytes, if `MissFlags.COOKIE` is set. */
  COOKIE: 412,
  /**
   * i32: version of the snapshot whose policy allowed the question; NOT_PASSED = the name of the question is an alias.
   */
  PASSED_VERSION: 436,
} as const;

/** Value if no snapshot has allowed the question. */
export const NOT_PASSED = -1;

/**
 * Bits of `MissRecord.FLAGS`; REFRESH = refreshes a cache entry, no client waits; RATE_LIMITED = must be logged as
 * rate-limited; COOKIE = the reply has a cookie; VALID_COOKIE = the client's cookie was valid. The bits of FIRST_TRY
 * form one number: the outcome of the answer thread's own query (`FirstTryOutcome`), or 0.
 */
export const MissFlags = {
  DNSSEC_OK: 1,
  REFRESH: 2,
  RATE_LIMITED: 4,
  COOKIE: 8,
  VALID_COOKIE: 16,
  FIRST_TRY: 7 << 5,
  SILENT: 1 << 5,
  EXPOSED: 2 << 5,
  TRUNCATED: 3 << 5,
  SERVFAIL: 4 << 5,
} as const;

/** Bytes of shared memory for a miss ring. */
export const MISS_RING_BYTES = MissRing.RECORDS_BYTE + MissRing.CAPACITY * MissRecord.SIZE;
