/** The secret of a session: created once, sent to the browser, stored only as a hash. */
import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits in base64url. */
const SHAPE = /^[A-Za-z0-9_-]{43}$/;

/** A secret for a new session. */
export function newSessionSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Whether a string can be a secret; anything else need not be looked up. */
export function isSessionSecret(text: string): boolean {
  return SHAPE.test(text);
}

/** The stored form of a secret. A plain hash suffices: 256 random bits cannot be guessed. */
export function hashSessionSecret(secret: string): Buffer {
  return createHash('sha256').update(secret, 'ascii').digest();
}

/** Token derived from the secret, which proves that a request with the cookie was sent by a page of this server. */
export function csrfTokenOf(secret: string): string {
  return createHash('sha256')
    .update(`csrf:${secret}`, 'ascii')
    .digest()
    .subarray(0, 16)
    .toString('base64url');
}
