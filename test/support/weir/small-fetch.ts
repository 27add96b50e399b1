/** Limits of fetches from the list server of a test, which a test can reach, and no host that is Weir's own. */
import type { FetchLimits } from '../../../control-plane/lists/fetch/fetch-limits.ts';
import type { FetchBounds } from '../../../control-plane/lists/fetch/list-host.ts';

/** Small sizes; times that no answer of a list server on this machine takes. */
export const SMALL_LIMITS: FetchLimits = {
  connectMs: 5000,
  idleMs: 5000,
  totalMs: 10_000,
  redirects: 5,
  compressedBytes: 100_000,
  textBytes: 1_000_000,
  lines: 100_000,
};

/** Bounds without a local domain and without own ports. */
export const NO_OWN_HOST: FetchBounds = { localDomain: () => '', ownPorts: () => new Set() };
