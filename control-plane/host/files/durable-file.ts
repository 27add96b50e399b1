/** Writes files so that they exist completely or not at all, even after a power cut. */
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Suffix of a file that is being written; after a crash, the next start removes such files. */
export const TEMPORARY_SUFFIX = '.tmp';

const PRIVATE = 0o600;

/** Writes the concatenated `parts` to `path` (mode 0600): temporary file, fsync, rename, fsync of the folder. */
export function writeDurably(path: string, ...parts: readonly Uint8Array[]): Promise<void> {
  return streamDurably(path, parts, PRIVATE);
}

/** Like `writeDurably()`, for parts that arrive one by one; if a part fails, no file remains. */
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
    // An error here is ignored, so that the first error is reported; the next start removes a remaining temporary file.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Flushes renames in a directory to disk, so that they are not lost in a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
