/**
 * Rejects a source that is being stored if its file is outside the directories of `blocking.list_dirs`.
 * `open-list-file.ts` checks again when it opens the file, because links may have changed.
 */
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { invalid } from '../../api/api-error.ts';

/** Throws 400 for a `file:` URL outside the directories or without a valid path, even if the file does not exist. */
export async function refuseOtherFolders(
  url: string,
  listDirs: readonly string[],
  field = 'url',
): Promise<void> {
  if (!url.startsWith('file:')) return;
  const path = await realPathSoFar(resolve(pathOf(url, field)));
  for (const folder of listDirs) {
    const real = await realPathSoFar(resolve(folder));
    if (path.startsWith(real.endsWith(sep) ? real : real + sep)) return;
  }
  const message = `expected a file in a directory of blocking.list_dirs (${listDirs.join(', ')})`;
  throw invalid([{ path: field, message }]);
}

/** The path of a `file:` URL; throws 400 if the URL has no valid path. */
function pathOf(url: string, field: string): string {
  try {
    const path = fileURLToPath(url);
    if (!path.includes('\0')) return path;
  } catch {
    // The URL contains, for example, an encoded slash, which a file name cannot contain.
  }
  throw invalid([{ path: field, message: 'expected the path of a file, without %2F and %00' }]);
}

/** The path with symbolic links resolved, as far as its directories exist. */
async function realPathSoFar(path: string): Promise<string> {
  const real = await realpath(path).catch(() => null);
  if (real !== null) return real;
  const parent = dirname(path);
  return parent === path ? path : join(await realPathSoFar(parent), basename(path));
}
