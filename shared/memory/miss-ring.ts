/**
 * Layout of the ring by which an answer thread hands a worker's resolve thread the questions that neither
 * policy nor cache could answer. One writer, one reader. A record holds what the reply needs (where it goes
 * and from which address) and the question; EDNS is kept as the fields that were read from it.
 */

/** i32 words of the ring's head, each on a separate cache line. */
export const MissRing = {
  /** Records ever written; only the answer thread stores it. */
  HEAD_WORD: 0,
  /** Records ever taken; only the resolve thread stores it. */
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
  /** i32: index of the socket it came by. */
  SOCKET: 8,
  /** u16: client's UDP size; 0 = no EDNS. */
  UDP_SIZE: 16,
  /** u8: `MissFlags`. */
  FLAGS: 18,
  /** u8: bytes of the client's subnet; 0 = none. */
  ECS_LENGTH: 19,
  /** u8: bytes of the socket address; of the control message that names the local address. */
  NAME_LENGTH: 20,
  CONTROL_LENGTH: 21,
  /** u16: bytes of header and question. */
  MESSAGE_LENGTH: 22,
  /** struct sockaddr, 28 bytes at most. */
  NAME: 24,
  /** 16 bytes: client address as everywhere. */
  CLIENT: 52,
  /** Control message, 40 bytes at most. */
  CONTROL: 72,
  /** Header and question: 12 + 255 + 4 bytes at most. */
  MESSAGE: 112,
  /** ECS option's data (RFC 7871), 20 bytes at most. */
  ECS: 392,
  /** The cookie of the reply (RFC 7873), 24 bytes, where `MissFlags.COOKIE` says so. */
  COOKIE: 412,
  /** i32: version of the snapshot that let the question pass; NOT_PASSED = its name is an alias. */
  PASSED_VERSION: 436,
} as const;

/** Value if no snapshot has let the question pass. */
export const NOT_PASSED = -1;

/**
 * Bits of `MissRecord.FLAGS`; REFRESH = refreshes a cache entry, no client waits; RATE_LIMITED = to be logged as such;
 * COOKIE = the reply has a cookie; VALID_COOKIE = the client's cookie was valid. The bits of FIRST_TRY are one number: the
 * outcome of the answer thread's own question (`FirstTryOutcome`), or 0.
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
