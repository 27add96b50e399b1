/** Limits on time and memory for fetching from a list server. */

/** Limits of one fetch; tests use smaller ones. */
export interface FetchLimits {
  /** Milliseconds for name resolution, connecting and TLS together. */
  readonly connectMs: number;
  /** Milliseconds without a received byte. */
  readonly idleMs: number;
  /** Milliseconds in total, including redirects. */
  readonly totalMs: number;
  readonly redirects: number;
  /** Maximum size in bytes of a compressed list. */
  readonly compressedBytes: number;
  /** Maximum size in bytes of the uncompressed text. */
  readonly textBytes: number;
  readonly lines: number;
}

const MIB = 1_048_576;

/** The default limits. The largest public lists have 150 MiB of text and about 6 million lines. */
export const FETCH_LIMITS: FetchLimits = {
  connectMs: 10_000,
  idleMs: 30_000,
  totalMs: 300_000,
  redirects: 5,
  compressedBytes: 128 * MIB,
  textBytes: 512 * MIB,
  lines: 20_000_000,
};
