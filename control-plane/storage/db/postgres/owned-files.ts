/**
 * Creates files and directories that belong to PostgreSQL's account, if Weir is root and that account owns the parent
 * directory. The owner of a directory can replace a file in it with a symbolic link at any time, so ownership is
 * changed by file descriptor and never by name, and links are not followed.
 */
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { PostgresAccount } from './postgres-account.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/** Writes a new file that only the account (and root) can read. Throws if the name exists. */
export function writeOwnedFile(path: string, text: string, account: PostgresAccount): void {
  const fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    changeOwner(fd, account);
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Writes or replaces a file that only the owner of its folder (and root) can read. A symbolic link at this path is
 * replaced; its target stays unchanged.
 */
export function replaceOwnedFile(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  const { uid, gid } = statSync(dirname(path));
  const isSelf = process.geteuid?.() !== 0 || uid === 0;
  rmSync(temporary, { force: true });
  writeOwnedFile(temporary, text, { name: `user id ${uid}`, uid, gid, isSelf });
  renameSync(temporary, path);
}

/** Creates a directory that only the account (and root) can enter. Throws if the name exists. */
export function makeOwnedFolder(path: string, account: PostgresAccount): void {
  mkdirSync(path, { mode: 0o700 });
  if (account.isSelf) return;
  const fd = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    changeOwner(fd, account);
  } finally {
    closeSync(fd);
  }
}

function changeOwner(fd: number, account: PostgresAccount): void {
  if (account.isSelf) return;
  const owner = fstatSync(fd).uid;
  if (owner !== process.geteuid?.())
    throw new Error(
      `could not change the owner of a file to ${account.name}: user id ${owner} replaced the file`,
    );
  fchownSync(fd, account.uid, account.gid);
}
