/** The key of this node's account at an ACME server: a file of mode 0600 in the data directory, one per server. */
import { createHash, createPrivateKey, generateKeyPair } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasErrorCode, reasonOf } from '../../../shared/errors.ts';
import { writeDurably } from '../../host/files/durable-file.ts';
import { acmeFault, AcmeFault } from './acme-http.ts';

/** The file for a server. */
export function accountKeyPath(dataDir: string, directoryUrl: string): string {
  const name = createHash('sha256').update(directoryUrl).digest('hex').slice(0, 16);
  return join(dataDir, 'acme', `account-${name}.pem`);
}

/**
 * Reads the key, or creates it if there is none. A damaged file is never replaced: it may belong to an account that is
 * still needed.
 */
export async function openAccountKey(dataDir: string, directoryUrl: string): Promise<KeyObject> {
  const path = accountKeyPath(dataDir, directoryUrl);
  try {
    return readKey(await readFile(path, 'utf8'), path);
  } catch (error) {
    if (error instanceof AcmeFault) throw error;
    if (!hasErrorCode(error, 'ENOENT'))
      throw acmeFault('acme_key_unreadable', { path, reason: reasonOf(error) });
  }
  const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  try {
    await mkdir(join(dataDir, 'acme'), { recursive: true, mode: 0o700 });
    await writeDurably(path, Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' })));
  } catch (error) {
    throw acmeFault('acme_key_unwritten', { path, reason: reasonOf(error) });
  }
  return privateKey;
}

function readKey(text: string, path: string): KeyObject {
  let key: KeyObject | null = null;
  try {
    key = createPrivateKey(text);
  } catch {
    // The error below names the file, without its content.
  }
  if (key?.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw acmeFault('acme_key_wrong', { path });
  return key;
}
