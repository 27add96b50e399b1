/** URL prefixes of the two APIs. */

/** The prefix of every path of the native API; the compatibility API takes `/api` when it is on. */
export function apiPrefix(altCompat: boolean): string {
  return altCompat ? '/svc/api' : '/api';
}

/** The prefix of the compatibility API while it is on. */
export const COMPAT_PREFIX = '/api';
