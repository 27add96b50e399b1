/** Reads and writes `<data_dir>/weir.local.toml`. The directory may belong to a different user than the reader. */
import { constants } from 'node:fs';
import { access, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Maximum size of the file in bytes. */
const MAX_BYTES = 1_048_576;
/** Permission bits for writing by users other than the owner. */
const OTHERS_WRITE = 0o022;

/** Result of reading: a text, null if there is no file, or the reason why the file cannot be used. */
export type LocalText = { readonly text: string } | { readonly fault: string } | null;

/** Reads the file; null if it does not exist, or if this user cannot access the directory. */
export async function readLocal(path: string): Promise<LocalText> {
  try {
    // With these flags, a link in place of the file is not followed, and opening a pipe does not wait for its writer.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const state = await file.stat();
      if (!state.isFile()) return { fault: 'not an ordinary file' };
      const owners = [0, process.geteuid?.(), (await stat(dirname(path))).uid];
      if (!owners.includes(state.uid))
        return { fault: `it belongs to user id ${state.uid}, but the directory does not` };
      if ((state.mode & OTHERS_WRITE) !== 0) return { fault: 'other users can write to it; run chmod go-w' };
      if (state.size > MAX_BYTES) return { fault: `longer than ${MAX_BYTES} bytes` };
      return { text: new TextDecoder('utf-8', { fatal: true }).decode(await file.readFile()) };
    } finally {
      await file.close();
    }
  } catch (error) {
    return faultOf(error, path);
  }
}

async function faultOf(error: unknown, path: string): Promise<LocalText> {
  if (!(error instanceof Error) || !('code' in error)) throw error;
  switch (error.code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return null;
    case 'ELOOP':
      return { fault: 'a link' };
    case 'EACCES':
      return (await mayEnter(dirname(path))) ? { fault: 'permission denied' } : null;
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return { fault: 'its bytes are not UTF-8' };
    default:
      return { fault: error.message };
  }
}

async function mayEnter(folder: string): Promise<boolean> {
  return access(folder, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Replaces the file atomically; an empty text removes it. */
export async function writeLocal(path: string, text: string): Promise<void> {
  if (text === '') {
    await rm(path, { force: true });
    return;
  }
  const temporary = `${path}.${process.pid}.tmp`;
  await rm(temporary, { force: true });
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

/**
 * Whether the configuration file could not be written because it belongs to another user or its file system is
 * read-only.
 */
export function isUnwritable(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && ['EACCES', 'EPERM', 'EROFS'].includes(String(error.code))
  );
}
