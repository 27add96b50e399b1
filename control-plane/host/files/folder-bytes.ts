/** Measures the size of a directory. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Total size in bytes of the files directly in the directory; null if it cannot be read. Files that are deleted during
 * the call count as 0.
 */
export async function folderBytes(folder: string): Promise<number | null> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const sizes = entries
      .filter((entry) => entry.isFile())
      .map(({ name }) =>
        stat(join(folder, name)).then(
          ({ size }) => size,
          () => 0,
        ),
      );
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  } catch {
    return null;
  }
}
