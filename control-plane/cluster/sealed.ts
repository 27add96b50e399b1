/** Sealing with a key of the nodes' secret (AES-256-GCM): what is kept in the database and only nodes may read. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deriveKey } from './cluster-secret.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Cannot be opened: it was sealed with another secret or for another purpose, or was changed since. */
export class BrokenSeal extends Error {
  override readonly name = 'BrokenSeal';
}

/** Nonce, tag and the sealed octets. */
export function seal(secret: Uint8Array, purpose: string, clear: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, keyFor(secret, purpose), nonce);
  const sealed = Buffer.concat([cipher.update(clear), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** What was sealed. @throws {BrokenSeal} */
export function unseal(secret: Uint8Array, purpose: string, sealed: Uint8Array): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv(CIPHER, keyFor(secret, purpose), nonce, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(tag);
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  } catch (cause) {
    throw new BrokenSeal(`open what was sealed for ${purpose}: it is of another secret, or damaged`, {
      cause,
    });
  }
}

function keyFor(secret: Uint8Array, purpose: string): Uint8Array {
  return deriveKey(secret, `sealed ${purpose}`, KEY_BYTES);
}
