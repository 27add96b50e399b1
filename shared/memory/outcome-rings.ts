/**
 * Outcomes of questions that threads of a node waited for while another one asked (`claim-table.ts`): what may not be
 * cached reaches them this way. Each resolve thread has a ring that it alone writes: serialized outcomes, and a
 * descriptor for each of the last ones. Readers copy, then check that nothing was overwritten in the meantime.
 * `dns-worker/resolve/flight-outcomes.ts` writes and reads.
 */

/** i32 words of one ring, before its bytes. */
export const OutcomeRing = {
  /** Number of the next outcome; counts up and wraps. */
  NEXT_WORD: 0,
  /** Where the next outcome starts, in bytes written since the beginning; wraps. */
  END_WORD: 1,
  HEAD_WORDS: 16,
  /** Descriptors: the outcome with number n has the one at n modulo this. */
  DESCRIPTORS: 64,
  /** Bytes of outcomes; a power of two, several times the longest answer. */
  DATA_BYTES: 262_144,
} as const;

/** i32 words of a descriptor. */
export const OutcomeDescriptor = {
  WORDS: 8,
  /** The claim and the word where it stood (`Claim`): all that a waiting thread knows of the flight. */
  CLAIM_WORD: 0,
  PLACE_WORD: 1,
  /** Start of the data, counted like END_WORD. */
  START_WORD: 2,
  LENGTH_WORD: 3,
} as const;

/** Bytes of one ring with its words. */
const RING_BYTES =
  (OutcomeRing.HEAD_WORDS + OutcomeRing.DESCRIPTORS * OutcomeDescriptor.WORDS) * 4 + OutcomeRing.DATA_BYTES;

/** Creates the rings of so many workers, empty; memory is used as it is written. */
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
