/** URL prefixes of the two APIs. */

/** The prefix of every path of the native API; the compatibility API uses `/api` if it is enabled. */
export function apiPrefix(altCompat: boolean): string {
  return altCompat ? '/svc/api' : '/api';
}

/** The prefix of the compatibility API if it is enabled. */
export const COMPAT_PREFIX = '/api';
