/** Listens on a unix socket that its owner alone may open. */
import { rm } from 'node:fs/promises';
import type { Server } from 'node:net';

/** Mask that leaves access to the owner only. */
const OTHERS = 0o177;

/**
 * Listens on the socket, of mode 0600. The caller holds the lock of its directory, so a socket that is there is of a
 * process that has died or gives way.
 */
export async function listenPrivately(server: Server, path: string): Promise<void> {
  await rm(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // The file is made within this call, with the permissions that it keeps.
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
