/**
 * Layout of the memory in which one DNS thread counts the queries of each client address, and stores the address's last
 * entry in the client table: one cache line contains both. Written by `dns-worker/report/sighting-writer.ts`, read by
 * `control-plane/clients/devices/sighting-reader.ts`.
 */

/**
 * Layout: slots of 32 bytes, in i32 words. An address uses one of PROBES consecutive slots, the first of which its hash
 * determines. A thread that assigns a slot to another address first sets its count to 0, and finally to 1.
 */
export const ClientSightingsLayout = {
  /** Number of slots, a power of two. */
  SLOTS: 32_768,
  SLOT_WORDS: 8,
  /** log2 of SLOT_WORDS. */
  SLOT_SHIFT: 3,
  /**
   * Number of slots that an address may use; if all of them are taken, a new address replaces the least recently seen
   * one.
   */
  PROBES: 8,
  /** Four words of address, see `addressWord`. */
  ADDRESS_AT: 0,
  /** Queries since the address got the slot (wraps at 2^32 to 1); 0 = free, or being written. */
  COUNT_AT: 4,
  /** Unix seconds of the last query. */
  LAST_SEEN_AT: 5,
  /** The client's entry in the client table, and the inverted version of the snapshot that contains it. */
  ENTRY_AT: 6,
  SNAPSHOT_AT: 7,
} as const;

/**
 * Value of the first address word if a client was identified by its key; the second word is the client's id, the others
 * are 0. As an address, these words would be a multicast group, which is never a sender (RFC 4291 section 2.7).
 */
export const KEYED_SIGHTING = -1;

/** Bytes of shared memory for the sightings of one thread. */
export const CLIENT_SIGHTINGS_BYTES =
  ClientSightingsLayout.SLOTS * ClientSightingsLayout.SLOT_WORDS * Int32Array.BYTES_PER_ELEMENT;
