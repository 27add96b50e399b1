/**
 * Opens the list of a `file:` URL. Only files below the directories in `blocking.list_dirs` may be opened. Symbolic
 * links are resolved before the check, and the file that was checked is also the one that is opened.
 */
import { hasErrorCode, reasonOf } from '../../../shared/errors.ts';
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ListError } from './list-error.ts';

/** An open list; the caller must close it. */
export interface OpenListFile {
  readonly file: FileHandle;
  readonly bytes: number;
  /** A text that changes when the file changes, like an ETag. */
  readonly etag: string;
}

/** Opens the file of `url`; throws a ListError. */
export async function openListFile(url: URL, listDirs: readonly string[]): Promise<OpenListFile> {
  const path = await resolvePath(url, listDirs);
  // With these flags, a link that was created after the check is not followed, and opening a pipe does not wait for its
  // writer.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((error: unknown) => {
    throw unreadable(url, error);
  });
  const stat = await file.stat({ bigint: true });
  if (!stat.isFile()) {
    await file.close();
    throw new ListError('refused_path', `could not read ${url.pathname}: not an ordinary file`);
  }
  return { file, bytes: Number(stat.size), etag: `"${stat.ino}-${stat.size}-${stat.mtimeNs}"` };
}

/** Whether this node has the file of a `file:` URL; true for all other URLs. */
export async function listFileExists(text: string, listDirs: readonly string[]): Promise<boolean> {
  if (!text.startsWith('file:')) return true;
  return resolvePath(new URL(text), listDirs).then(
    () => true,
    () => false,
  );
}

async function resolvePath(url: URL, listDirs: readonly string[]): Promise<string> {
  let path: string;
  try {
    path = await realpath(fileURLToPath(url));
  } catch (error) {
    throw unreadable(url, error);
  }
  for (const folder of listDirs) {
    // A directory that does not exist contains no lists.
    const real = await realpath(folder).catch(() => null);
    if (real !== null && path.startsWith(real.endsWith(sep) ? real : real + sep)) return path;
  }
  throw new ListError(
    'refused_path',
    `could not read ${url.pathname}: not in a directory of blocking.list_dirs (${listDirs.join(', ')})`,
  );
}

function unreadable(url: URL, error: unknown): ListError {
  const reason = hasErrorCode(error, 'ENOENT') ? 'no such file' : reasonOf(error);
  return new ListError('unreadable', `could not read ${url.pathname}: ${reason}`, error);
}
