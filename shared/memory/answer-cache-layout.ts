/**
 * Layout of the answer cache that all threads of a node share: a header, an index of buckets, and a slab that is
 * written as a ring of segments. `dns-worker/cache/` reads and writes it; the control plane creates the memory and
 * reads the counters.
 *
 * A position is the number of 16-byte units written since the start, modulo a multiple of the slab's size near 2^32
 * (`positionLimit`); the unit's place in the slab is the position modulo the slab's size. An entry is valid while its
 * position is less than one slab size ahead of TAIL.
 */

/** i32 words of the header. */
export const CacheHead = {
  /** 0 = free, or 1 + the index of the worker that writes. */
  LOCK_WORD: 0,
  /** Position at which the next entry is written; read only by the owner of the lock. */
  HEAD_WORD: 16,
  /** Position of the oldest segment; advanced before its bytes are overwritten. */
  TAIL_WORD: 32,
  ENTRIES_WORD: 48,
  INSERTIONS_WORD: 49,
  EVICTIONS_WORD: 50,
  /** Replaced or expired entries that TAIL has passed. */
  LAZY_DELETIONS_WORD: 51,
  /** Valid entries moved from TAIL to HEAD because they were in use. */
  COMPACTIONS_WORD: 52,
  BUCKET_COUNT_WORD: 56,
  SLAB_UNITS_WORD: 57,
  BYTES: 256,
} as const;

/** A bucket of the index: one cache line of i32 words. */
export const CacheBucket = {
  WORDS: 16,
  /** log2 of WORDS. */
  SHIFT: 4,
  SLOTS: 7,
  /** High hash lane of each slot's entry. */
  TAG_AT: 0,
  /** Position of each slot's entry plus one; 0 = free. */
  REFERENCE_AT: 7,
  /**
   * One bit per slot: whether the entry was read since TAIL last passed it. This is a hint, which is written without a
   * lock.
   */
  USED_AT: 14,
  /** First of the bits in the same word, one per slot, that show whether a refresh of the entry is in flight. */
  REFRESH_BIT: 8,
} as const;

/** Bytes of a slab unit; entries start on units. */
export const CACHE_UNIT = 16;

/** Byte offsets in an entry. Numbers are little-endian; DNS bytes are stored as received. */
export const CacheEntry = {
  /** u32: units of this entry, including padding. */
  UNITS: 0,
  /** i32: lanes of the key's hash. */
  HASH_LOW: 4,
  HASH_HIGH: 8,
  /** u16 qtype, u16 qclass. */
  QTYPE: 12,
  QCLASS: 14,
  /** i32: times in seconds of the monotonic clock, so that steps of the wall clock do not change lifetimes. */
  STORED_AT_SECS: 16,
  EXPIRES_AT_SECS: 20,
  STALE_UNTIL_SECS: 24,
  /** u16: bytes of answer and authority RRs; bytes of answer RRs only. */
  BODY_LENGTH: 28,
  ANSWERS_LENGTH: 30,
  ANSWER_COUNT: 32,
  AUTHORITY_COUNT: 34,
  /** u16: number of TTL offsets. */
  TTL_COUNT: 36,
  /** Each of the following fields is a u8. */
  RCODE: 38,
  /** `CacheKeyFlags`. */
  KEY_FLAGS: 39,
  QNAME_LENGTH: 40,
  DNSSEC: 41,
  /** u16: upstream index plus one. */
  UPSTREAM: 42,
  /** u16: partition of the cache (0 = the pools; all other values = forward zones). */
  PARTITION: 44,
  /** u8: `CacheMarks`. */
  MARKS: 46,
  /** u8: extended error of the answer, plus one; 0 = none. */
  EXTENDED_ERROR: 47,
  /** qname, u16 TTL offsets, body: each starts on a word; the gaps are zero. */
  QNAME: 48,
} as const;

/** Checks that are needed before a cached answer is sent. */
export const CacheMarks = {
  /** The answer refers to other names (CNAME, DNAME, SVCB, HTTPS), which policy checks. */
  HAS_TARGETS: 1,
  /** The answer contains a private address, which a public name must not have. */
  HAS_PRIVATE_ADDRESS: 2,
} as const;

/** Value that identifies the control plane as owner of the lock; workers have the values from 1 on. */
export const CACHE_LOCK_OF_CONTROL_PLANE = 0x7fff_ffff;

/** Bits of the key in addition to name, type and class. */
export const CacheKeyFlags = { DNSSEC_OK: 1, CHECKING_DISABLED: 2 } as const;

/** Units of a segment (64 KiB): the slab is written and evicted by segments, and an entry is within one segment. */
export const CACHE_SEGMENT_UNITS = 4096;

/** Maximum size of a cached body, in bytes. */
export const CACHE_MAX_BODY = 16_384;

const BYTES_PER_ENTRY_EXPECTED = 192;
const MIN_BUCKETS = 64;
const MIN_SEGMENTS = 4;

/** Positions are counted modulo this number: the largest multiple of the slab's size whose references fit in a word. */
export function positionLimit(slabUnits: number): number {
  return Math.floor(0xffff_ffff / slabUnits) * slabUnits;
}

/** Creates an empty cache of about `maxBytes` (index and slab together; at least 256 KiB). */
export function createAnswerCache(maxBytes: number): SharedArrayBuffer {
  const budget = Math.max(maxBytes, 262_144);
  const bucketBytes = CacheBucket.WORDS * 4;
  const wanted =
    budget / (BYTES_PER_ENTRY_EXPECTED + bucketBytes / CacheBucket.SLOTS) / (CacheBucket.SLOTS * 0.7);
  const buckets = Math.max(MIN_BUCKETS, 2 ** Math.floor(Math.log2(wanted)));
  const slabBytes = budget - CacheHead.BYTES - buckets * bucketBytes;
  const segments = Math.max(MIN_SEGMENTS, Math.floor(slabBytes / (CACHE_SEGMENT_UNITS * CACHE_UNIT)));
  const slabUnits = segments * CACHE_SEGMENT_UNITS;
  const buffer = new SharedArrayBuffer(CacheHead.BYTES + buckets * bucketBytes + slabUnits * CACHE_UNIT);
  const words = new Int32Array(buffer, 0, CacheHead.BYTES >>> 2);
  words[CacheHead.BUCKET_COUNT_WORD] = buckets;
  words[CacheHead.SLAB_UNITS_WORD] = slabUnits;
  return buffer;
}

/**
 * Releases the lock of a dead worker. The worker's last write may be incomplete, so the cache is emptied: every
 * reference is removed, and TAIL advances by the size of the slab, which invalidates every reader's position.
 */
export function releaseCacheLock(buffer: SharedArrayBuffer, worker: number): void {
  const head = new Int32Array(buffer, 0, CacheHead.BYTES >>> 2);
  if (Atomics.load(head, CacheHead.LOCK_WORD) !== worker + 1) return;
  const slabUnits = head[CacheHead.SLAB_UNITS_WORD]!;
  const index = new Int32Array(
    buffer,
    CacheHead.BYTES,
    head[CacheHead.BUCKET_COUNT_WORD]! * CacheBucket.WORDS,
  );
  for (let at = 0; at < index.length; at++) Atomics.store(index, at, 0);
  const segmentStart = (position: number): number =>
    Math.ceil(position / CACHE_SEGMENT_UNITS) * CACHE_SEGMENT_UNITS;
  const restart = (segmentStart(head[CacheHead.HEAD_WORD]! >>> 0) + slabUnits) % positionLimit(slabUnits);
  Atomics.store(head, CacheHead.HEAD_WORD, restart | 0);
  Atomics.store(head, CacheHead.TAIL_WORD, restart | 0);
  Atomics.store(head, CacheHead.ENTRIES_WORD, 0);
  Atomics.store(head, CacheHead.LOCK_WORD, 0);
  Atomics.notify(head, CacheHead.LOCK_WORD);
}
