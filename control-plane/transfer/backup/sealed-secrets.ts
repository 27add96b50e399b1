/** Encrypts the secrets of a backup with a passphrase, and decrypts them. */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import type { ScryptOptions } from 'node:crypto';
import { promisify } from 'node:util';
import type { SealedSecrets } from '../../../shared/api/policy/sealed-secrets-api.ts';
import { Semaphore } from '../../storage/concurrency/semaphore.ts';

/** The passphrase is wrong, or the secrets were changed after they were encrypted. */
export class WrongPassphrase extends Error {
  override readonly name = 'WrongPassphrase';
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const SALT_BYTES = 16;
const TAG_BYTES = 16;
/** 32 MiB and three passes: one of the equivalent settings that OWASP recommends. */
const COST = { n: 1 << 15, r: 8, p: 3 } as const;

type Kdf = SealedSecrets['kdf'];

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);
/** Limits key derivation to one at a time: each needs memory and a core. */
const turns = new Semaphore(1);

/** Encrypts JSON data; `context` must be the same when it is decrypted. */
export async function sealSecrets(
  content: unknown,
  passphrase: string,
  context: string,
): Promise<SealedSecrets> {
  const kdf: Kdf = { name: 'scrypt', ...COST, salt: randomBytes(SALT_BYTES).toString('base64') };
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, await keyFor(passphrase, kdf), nonce);
  cipher.setAAD(Buffer.from(context));
  const data = Buffer.concat([cipher.update(JSON.stringify(content)), cipher.final()]);
  return {
    version: 1,
    kdf,
    cipher: CIPHER,
    nonce: nonce.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
    data: data.toString('base64'),
  };
}

/** Decrypts the output of `sealSecrets`. @throws {WrongPassphrase} */
export async function openSecrets(
  sealed: SealedSecrets,
  passphrase: string,
  context: string,
): Promise<unknown> {
  const key = await keyFor(passphrase, sealed.kdf);
  try {
    const decipher = createDecipheriv(CIPHER, key, bytesOf(sealed.nonce), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(bytesOf(sealed.tag));
    const text = Buffer.concat([decipher.update(bytesOf(sealed.data)), decipher.final()]).toString();
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new WrongPassphrase('wrong passphrase, or the secrets of this file are damaged', { cause });
  }
}

function keyFor(passphrase: string, { n, r, p, salt }: Kdf): Promise<Buffer> {
  // The same passphrase may come from keyboards that compose letters differently.
  const text = passphrase.normalize('NFC');
  const options = { N: n, r, p, maxmem: 256 * n * r };
  return turns.run(() => derive(text, bytesOf(salt), KEY_BYTES, options));
}

function bytesOf(base64: string): Buffer {
  return Buffer.from(base64, 'base64');
}
