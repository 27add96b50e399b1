/** Listens on a Unix socket that only its owner can open. */
import { rm } from 'node:fs/promises';
import type { Server } from 'node:net';

/** Mask that gives access only to the owner. */
const OTHERS = 0o177;

/**
 * Listens on the socket, with mode 0600. The caller holds the lock of its directory, so an existing socket belongs to a
 * process that has died or is being replaced.
 */
export async function listenPrivately(server: Server, path: string): Promise<void> {
  await rm(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // The file is created during this call, with the permissions that it keeps.
    const before = process.umask(OTHERS);
    try {
      server.listen(path, () => {
        server.removeListener('error', reject);
        resolve();
      });
    } finally {
      process.umask(before);
    }
  });
}
