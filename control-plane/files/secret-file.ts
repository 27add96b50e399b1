/** Reads a secret from a file that others have no access to. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Longest file, bytes. */
const MAX_BYTES = 65_536;
/** Mode bits of users who are neither the owner nor of the group. */
const OTHERS = 0o007;

/**
 * The first line of the file. @throws Error that names the file, if it cannot be read, is open to every user, or is empty
 */
export async function readSecretFile(path: string): Promise<string> {
  // A pipe in its place must not have anyone wait.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { mode, size } = await file.stat();
    if ((mode & OTHERS) !== 0) throw new Error(`${path} is open to every user; run chmod o-rwx`);
    if (size > MAX_BYTES) throw new Error(`${path} is longer than ${MAX_BYTES} bytes`);
    const [secret = ''] = (await file.readFile('utf8')).split(/\r?\n/u);
    if (secret === '') throw new Error(`the first line of ${path} is empty`);
    return secret;
  } finally {
    await file.close();
  }
}
