/** Files that are there whole or not at all, whenever the machine stops. */
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Ends the name of a file that is still being written; what a crash leaves behind is removed at start. */
export const TEMPORARY_SUFFIX = '.tmp';

/** Writes `parts`, one behind the other, to `path` (mode 0600): a file beside it, to disk, renamed, and the folder to disk. */
export async function writeDurably(path: string, ...parts: readonly Uint8Array[]): Promise<void> {
  const temporary = `${path}${TEMPORARY_SUFFIX}`;
  try {
    const file = await open(temporary, 'w', 0o600);
    try {
      for (const part of parts) await file.writeFile(part);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    // The error to tell is the first one; a temporary file that stays is removed at the next start.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Makes renames in a folder survive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
