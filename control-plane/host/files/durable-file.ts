/** Writes files so that they exist completely or not at all, even after a power cut. */
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Suffix of a file that is being written; after a crash, leftovers are removed at the next start. */
export const TEMPORARY_SUFFIX = '.tmp';

const PRIVATE = 0o600;

/** Writes the concatenated `parts` to `path` (mode 0600): temporary file, fsync, rename, fsync of the folder. */
export function writeDurably(path: string, ...parts: readonly Uint8Array[]): Promise<void> {
  return streamDurably(path, parts, PRIVATE);
}

/** Writes a file in the same way from parts that arrive one by one; if a part fails, no file remains. */
export async function streamDurably(
  path: string,
  parts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  mode: number,
): Promise<void> {
  const temporary = `${path}${TEMPORARY_SUFFIX}`;
  try {
    const file = await open(temporary, 'w', mode);
    try {
      for await (const part of parts) await file.writeFile(part);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    // The first error is reported; a remaining temporary file is removed at the next start.
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
