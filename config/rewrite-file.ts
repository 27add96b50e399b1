/** Replaces a file that belongs to a user, atomically and with the same mode and owner. */
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Permission bits of users other than the owner and the group. */
const OTHERS = 0o007;
const OWNER_ONLY = 0o600;

/**
 * Writes `text` to the file at `path`, and follows symbolic links. If a system call fails, throws its error and leaves
 * the file unchanged. If the new text contains a new secret and other users have access to the file, access is
 * restricted to the owner.
 */
export async function rewriteFile(path: string, text: string, hasNewSecret = false): Promise<void> {
  const target = await realpath(path);
  const { mode, uid, gid } = await stat(target);
  const temporary = `${target}.weir-${process.pid}.tmp`;
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(text);
      const own = await file.stat();
      if (own.uid !== uid || own.gid !== gid) await file.chown(uid, gid);
      await file.chmod(hasNewSecret && (mode & OTHERS) !== 0 ? OWNER_ONLY : mode & 0o7777);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined); // Ignored, so that the first error is reported.
    throw error;
  }
  const folder = await open(dirname(target), 'r');
  await folder.sync().finally(() => folder.close());
}
