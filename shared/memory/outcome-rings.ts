/**
 * Outcomes of questions that another thread has resolved while threads waited (`claim-table.ts`), including outcomes
 * that must not be cached. Each resolve thread has a ring that only it writes: serialized outcomes, and a descriptor
 * for each recent outcome. Readers copy an outcome, then check that it was not overwritten.
 * `dns-worker/resolve/flight-outcomes.ts` writes and reads the rings.
 */

/** i32 words of one ring, before its data. */
export const OutcomeRing = {
  /** Sequence number of the next outcome; wraps. */
  NEXT_WORD: 0,
  /** Start of the next outcome, as the total number of bytes written so far; wraps. */
  END_WORD: 1,
  HEAD_WORDS: 16,
  /** Number of descriptors: outcome n has the descriptor at n modulo this number. */
  DESCRIPTORS: 64,
  /** Size of the data; a power of two, several times the longest answer. */
  DATA_BYTES: 262_144,
} as const;

/** i32 words of a descriptor. */
export const OutcomeDescriptor = {
  WORDS: 8,
  /** The claim and its word in the table (`Claim`), which identify the flight for a waiting thread. */
  CLAIM_WORD: 0,
  PLACE_WORD: 1,
  /** Start of the data, as a total number of bytes like END_WORD. */
  START_WORD: 2,
  LENGTH_WORD: 3,
} as const;

/** Bytes of one ring including its words. */
const RING_BYTES =
  (OutcomeRing.HEAD_WORDS + OutcomeRing.DESCRIPTORS * OutcomeDescriptor.WORDS) * 4 + OutcomeRing.DATA_BYTES;

/** Creates empty rings for this many workers; memory is allocated as it is written. */
export function createOutcomeRings(workers: number): SharedArrayBuffer {
  return new SharedArrayBuffer(workers * RING_BYTES);
}

/** Words and bytes of a worker's ring. */
export function outcomeRing(
  memory: SharedArrayBuffer,
  worker: number,
): { readonly words: Int32Array; readonly data: Uint8Array } {
  const at = worker * RING_BYTES;
  const headBytes = RING_BYTES - OutcomeRing.DATA_BYTES;
  return {
    words: new Int32Array(memory, at, headBytes / 4),
    data: new Uint8Array(memory, at + headBytes, OutcomeRing.DATA_BYTES),
  };
}
