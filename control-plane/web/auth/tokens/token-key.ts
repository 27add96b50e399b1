/** The key of an API token: created once, shown once, stored only as a hash. */
import { createHash, randomBytes } from 'node:crypto';

/** Prefix of generated keys, so that users and programs that search for leaked secrets recognize them. */
const SCHEME = 'weir_';
/** Printable ASCII without spaces, which a header field transmits unchanged. */
const SHAPE = /^[\x21-\x7e]{20,256}$/;
/** Maximum number of characters that are shown. */
const SHOWN = 8;

/** A new key with 256 random bits. */
export function newTokenKey(): string {
  return SCHEME + randomBytes(32).toString('base64url');
}

/** Whether a string can be a key; anything else need not be looked up. */
export function isTokenKey(text: string): boolean {
  return SHAPE.test(text);
}

/** The stored form of a key. A plain hash is enough: a random key of this length cannot be guessed. */
export function hashTokenKey(key: string): Buffer {
  return createHash('sha256').update(key, 'ascii').digest();
}

/** The part that identifies a key to users: at most a quarter of the key. */
export function prefixOf(key: string): string {
  return key.slice(0, Math.min(SHOWN, Math.floor(key.length / 4)));
}
