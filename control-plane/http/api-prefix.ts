/** Where the native API lives. */

/** The prefix of every path of the native API; the compatibility API takes `/api` when it is on. */
export function apiPrefix(altCompat: boolean): string {
  return altCompat ? '/svc/api' : '/api';
}
