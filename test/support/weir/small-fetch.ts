/**
 * Limits of fetches from the list server of a test, small enough that tests can exceed them, and fetch bounds without
 * Weir's own addresses.
 */
import type { FetchLimits } from '../../../control-plane/lists/fetch/fetch-limits.ts';
import type { FetchBounds } from '../../../control-plane/lists/fetch/list-host.ts';

/** Small sizes, and time-outs that no response of a local list server reaches. */
export const SMALL_LIMITS: FetchLimits = {
  connectMs: 5000,
  idleMs: 5000,
  totalMs: 10_000,
  redirects: 5,
  compressedBytes: 100_000,
  textBytes: 1_000_000,
  lines: 100_000,
};

/** Limits without a local domain or Weir's own ports. */
export const NO_OWN_HOST: FetchBounds = { localDomain: () => '', ownPorts: () => new Set() };
