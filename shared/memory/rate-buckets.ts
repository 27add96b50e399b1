/** Shared memory of the rate limit per client network: all threads of a node use the same bucket of a network. */

/**
 * A 64-byte header with the hash's seed and a counter, then 32-byte buckets: the network's 16 address bytes as words,
 * then two f64, each the time (`Clock.monotonicMs`) at which the bucket is full again: for queries, and for NXDOMAIN
 * answers. The bucket of an idle network is full, so a new network can take it over without any eviction.
 */
export const RateBucketLayout = {
  SEED_WORD: 0,
  /** Number of limited answers so far, of which every Nth is truncated. */
  LIMITED_WORD: 1,
  HEAD_BYTES: 64,
  BUCKET_BYTES: 32,
  /** Number of buckets, a power of two. */
  BUCKETS: 32_768,
  /** Number of buckets that a network may use. */
  WAYS: 4,
  /** Offsets in a bucket, in f64. */
  QUESTIONS_DOUBLE: 2,
  NXDOMAIN_DOUBLE: 3,
} as const;

/**
 * Creates the memory; it has no buckets if nothing is limited. `seed` is random, so that an attacker cannot choose
 * addresses that share a bucket with another client's.
 */
export function createRateBuckets(enabled: boolean, seed: number): SharedArrayBuffer {
  const { HEAD_BYTES, BUCKET_BYTES, BUCKETS, SEED_WORD } = RateBucketLayout;
  const memory = new SharedArrayBuffer(HEAD_BYTES + (enabled ? BUCKETS : 0) * BUCKET_BYTES);
  new Int32Array(memory)[SEED_WORD] = seed;
  return memory;
}
