/** DNS cookies for tests. */
import { CookieKeys } from '../../../control-plane/workers/cookie-keys.ts';
import { ServerCookies } from '../../../dns-worker/cookies/server-cookies.ts';

/** Cookies with keys for the days around `nowSecs`; those of one secret take each other's. */
export function cookiesAt(nowSecs: number, secret?: Uint8Array): ServerCookies {
  const keys = new CookieKeys(secret);
  keys.keepUp(nowSecs);
  return new ServerCookies(keys.memory);
}
