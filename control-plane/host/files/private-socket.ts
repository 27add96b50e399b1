/** Listens on a Unix socket that only its owner can open. */
import { rm } from 'node:fs/promises';
import type { Server } from 'node:net';

/** File mode mask with which only the owner has access. */
const OTHERS = 0o177;

/**
 * Listens on the socket, with mode 0600. The caller must hold the lock of the directory: an existing socket then
 * belongs to a process that has died or is being replaced, and is deleted.
 */
export async function listenPrivately(server: Server, path: string): Promise<void> {
  await rm(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // The call of listen() creates the file, with its final permissions.
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
