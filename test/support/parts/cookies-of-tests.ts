/** DNS cookies for tests. */
import { randomBytes } from 'node:crypto';
import { CookieKeys } from '../../../control-plane/threads/cookie-keys.ts';
import { ServerCookies } from '../../../dns-worker/cookies/server-cookies.ts';

const SECRET = new Uint8Array(32).fill(7);

/** The secret of all nodes, for tests that need no specific secret. */
export function secretOfTests(): Uint8Array {
  return SECRET;
}

/** Cookies with keys for the days around `nowSecs`. Objects with the same secret accept each other's cookies. */
export function cookiesAt(nowSecs: number, secret: Uint8Array = randomBytes(32)): ServerCookies {
  const keys = new CookieKeys(() => secret);
  keys.keepUp(nowSecs);
  return new ServerCookies(keys.memory);
}
