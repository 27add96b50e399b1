/**
 * Claims to questions, in memory that all resolve threads of a node share: a thread that resolves a question owns a
 * slot, so that no other thread sends the same question at the same time (RFC 5452 section 5). A question is identified
 * by 46 bits of a hash; two questions that share these bits or a full bucket only delay each other. The table contains
 * no names; answers come from the cache or from an upstream. `dns-worker/resolve/` takes claims and waits for their
 * end.
 */

/** Layout in i32 words: a header, then the buckets of the first area, then those of the second. */
export const ClaimTable = {
  /** Seed of the hash: random, so that an attacker cannot choose questions that share a bucket. */
  SEED_WORD: 0,
  HEAD_WORDS: 16,
  /** Buckets of one area, a power of two. */
  BUCKETS: 16_384,
} as const;

/** A bucket: one cache line of words. */
export const ClaimBucket = {
  WORDS: 16,
  /** 0 = free, or 1 + the index of the worker that looks for a slot. */
  LOCK_AT: 0,
  SLOTS: 7,
  /** Bits of the hash of each slot's question; written by the owner of the lock. */
  TAG_AT: 1,
  /** Claim of each slot; NO_CLAIM = the slot is free. Threads wait on this word. */
  CLAIM_AT: 8,
} as const;

/**
 * The areas: questions of clients, claimed until the answer is in the cache, and questions that are sent to upstreams.
 * A thread with a claim in the first area waits for claims in the second, but a thread with a claim in the second never
 * waits for claims in the first, so there is no deadlock.
 */
export const ClaimArea = { CLIENTS: 0, UPSTREAMS: 1 } as const;
export type ClaimAreaCode = (typeof ClaimArea)[keyof typeof ClaimArea];

/** Value of a free slot. */
export const NO_CLAIM = 0;
/** Bits of a claim that identify its thread. */
const HOLDER_BITS = 12;
const HOLDER_MASK = (1 << HOLDER_BITS) - 1;
/** Bit that is set when another thread waits for the claim: the outcome is then passed on (`outcome-rings.ts`). */
export const WAITED_FOR = 1 << HOLDER_BITS;
/** Position, in a claim, of the time at which it was taken (`Clock.monotonicMs`, in seconds). */
const SECS_SHIFT = HOLDER_BITS + 1;
const SECS_MASK = 0xffff_ffff >>> SECS_SHIFT;

/** The owner bits of a worker's resolve thread; never 0. */
export function claimHolder(worker: number): number {
  return 1 + (worker % HOLDER_MASK);
}

/** The worker whose resolve thread owns a claim. */
export function claimWorker(claim: number): number {
  return (claim & HOLDER_MASK) - 1;
}

/** The value of a claim that a worker's resolve thread takes at `secs`. */
export function claimOf(worker: number, secs: number): number {
  return claimHolder(worker) | (secs << SECS_SHIFT);
}

/** Age of a claim in seconds. */
export function claimAgeSecs(claim: number, nowSecs: number): number {
  return (nowSecs - (claim >>> SECS_SHIFT)) & SECS_MASK;
}

/** Creates the memory, with no claims. */
export function createClaimTable(seed: number): SharedArrayBuffer {
  const { HEAD_WORDS, BUCKETS, SEED_WORD } = ClaimTable;
  const areas = Object.keys(ClaimArea).length;
  const buffer = new SharedArrayBuffer((HEAD_WORDS + areas * BUCKETS * ClaimBucket.WORDS) * 4);
  new Int32Array(buffer)[SEED_WORD] = seed;
  return buffer;
}

/** Ends the claims and locks of a worker whose resolve thread has died, and wakes the threads that wait for them. */
export function releaseClaims(buffer: SharedArrayBuffer, worker: number): void {
  const words = new Int32Array(buffer);
  const holder = claimHolder(worker);
  for (let bucket = ClaimTable.HEAD_WORDS; bucket < words.length; bucket += ClaimBucket.WORDS) {
    for (let slot = 0; slot < ClaimBucket.SLOTS; slot++) {
      const word = bucket + ClaimBucket.CLAIM_AT + slot;
      const claim = Atomics.load(words, word);
      if ((claim & HOLDER_MASK) === holder) free(words, word, claim);
    }
    free(words, bucket + ClaimBucket.LOCK_AT, holder);
  }
}

/** Sets a word to 0 if its value is `value`, and wakes the threads that wait for it; false if it has another value. */
export function free(words: Int32Array, word: number, value: number): boolean {
  if (Atomics.compareExchange(words, word, value, 0) !== value) return false;
  Atomics.notify(words, word);
  return true;
}
