/**
 * Number of stream connections of each client address, in memory that all threads of a node share: the limit per
 * address applies to the node, whichever worker accepts a connection. Each worker counts its connections in its own
 * block, and reads the blocks of all other workers; when a thread dies, its block is cleared, because the kernel closes
 * its connections. `dns-worker/streams/connection-limit.ts` does the counting.
 */

/**
 * Layout in i32 words: a header, then a block for each worker. An address is in one of PROBES consecutive slots, the
 * first of which its hash determines.
 */
export const ConnectionTableLayout = {
  SEED_WORD: 0,
  HEAD_WORDS: 16,
  /**
   * A power of two, and more than four times the number of connections that a thread may have over all protocols, so
   * that at least one probe of an address finds a free slot.
   */
  SLOTS: 16_384,
  SLOT_WORDS: 8,
  PROBES: 32,
  /** Number of connections; 0 = the slot is free. This word is written last. */
  COUNT_AT: 0,
  /** `Protocol`. */
  PROTOCOL_AT: 1,
  /** Address of the client in four words, see `addressWord`. */
  ADDRESS_AT: 4,
} as const;

const BLOCK_WORDS = ConnectionTableLayout.SLOTS * ConnectionTableLayout.SLOT_WORDS;

/** Creates the memory. `seed` is random, so that an attacker cannot choose addresses that share slots. */
export function createConnectionTable(workers: number, seed: number): SharedArrayBuffer {
  const { HEAD_WORDS, SEED_WORD } = ConnectionTableLayout;
  const memory = new SharedArrayBuffer((HEAD_WORDS + workers * BLOCK_WORDS) * 4);
  new Int32Array(memory)[SEED_WORD] = seed;
  return memory;
}

/** The blocks of all workers. */
export function connectionBlocks(memory: SharedArrayBuffer): Int32Array[] {
  const words = new Int32Array(memory, ConnectionTableLayout.HEAD_WORDS * 4);
  const workers = words.length / BLOCK_WORDS;
  return Array.from({ length: workers }, (_, i) => words.subarray(i * BLOCK_WORDS, (i + 1) * BLOCK_WORDS));
}

/** Releases the counts of a worker whose thread has died. */
export function releaseConnections(memory: SharedArrayBuffer, worker: number): void {
  connectionBlocks(memory)[worker]!.fill(0);
}

/** Open connections in a block, by the code of their protocol. */
export function countConnections(block: Int32Array, protocols: number): number[] {
  const { SLOTS, SLOT_WORDS, COUNT_AT, PROTOCOL_AT } = ConnectionTableLayout;
  const counts = new Array<number>(protocols).fill(0);
  for (let slot = 0; slot < SLOTS; slot++) {
    const at = slot * SLOT_WORDS;
    const count = block[at + COUNT_AT]!;
    if (count > 0) counts[block[at + PROTOCOL_AT]!]! += count;
  }
  return counts;
}
