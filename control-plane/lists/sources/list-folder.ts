/**
 * Refuses sources whose file lies outside of the folders of `blocking.list_dirs` when they are written down.
 * What is opened later is judged again then (`open-list-file.ts`): links may have changed meanwhile.
 */
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { invalid } from '../../api/api-error.ts';

/** 400 for a `file:` URL that leads out of the folders or names no path, whether or not there is a file yet. */
export async function refuseOtherFolders(url: string, listDirs: readonly string[]): Promise<void> {
  if (!url.startsWith('file:')) return;
  const path = await realPathSoFar(resolve(pathOf(url)));
  for (const folder of listDirs) {
    const real = await realPathSoFar(resolve(folder));
    if (path.startsWith(real.endsWith(sep) ? real : real + sep)) return;
  }
  const message = `expected a file below a folder of blocking.list_dirs (${listDirs.join(', ')})`;
  throw invalid([{ path: 'url', message }]);
}

/** The path that a `file:` URL names; 400 if it can name none. */
function pathOf(url: string): string {
  try {
    const path = fileURLToPath(url);
    if (!path.includes('\0')) return path;
  } catch {
    // Such as an encoded slash, which no name of a file can hold.
  }
  throw invalid([{ path: 'url', message: 'expected the path of a file, without %2F and %00' }]);
}

/** The path with the links in that part of it resolved that exists. */
async function realPathSoFar(path: string): Promise<string> {
  const real = await realpath(path).catch(() => null);
  if (real !== null) return real;
  const parent = dirname(path);
  return parent === path ? path : join(await realPathSoFar(parent), basename(path));
}
