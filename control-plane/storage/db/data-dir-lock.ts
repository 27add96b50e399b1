/**
 * Ensures that only one Weir server uses a data directory. The lock is a POSIX lock of the kernel on `<data_dir>/lock`,
 * so it ends with the process even after a crash, works between containers that share a volume, and does not depend on
 * process ids, which may be reused. Node has no API for such locks, but its built-in SQLite holds one during an
 * exclusive transaction. The file stays empty.
 */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { errorCode, hasErrorCode, reasonOf } from '../../../shared/errors.ts';

/** Error: the data directory cannot be used. The message contains the directory and the reason. */
export class DataDirError extends Error {
  override readonly name = 'DataDirError';
  /**
   * `in_use`: another Weir server uses the directory. `unusable`: the directory cannot be created, written or locked.
   */
  readonly reason: 'in_use' | 'unusable';

  constructor(reason: 'in_use' | 'unusable', message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

/** The right to use a data directory, held until `release()` or the end of the process. */
export interface DataDirLock {
  /** Absolute path of the directory. */
  readonly dataDir: string;
  /** Resolves when the lock is held: immediately, unless another process still has to hand the directory over. */
  readonly taken: Promise<void>;
  /** Releases the lock, so that another Weir server can use the directory. */
  release(): void;
}

const SQLITE_BUSY = 5;
/** Open locks. Without a reference, garbage collection would close the connection and release the lock. */
const held = new Set<DatabaseSync>();

/**
 * Creates the data directory if it is missing and locks it. @throws {DataDirError} at once; never waits for the holder.
 */
export function lockDataDir(directory: string): DataDirLock {
  const dataDir = resolve(directory);
  refuseOldDataDir(dataDir);
  createDataDir(dataDir);
  const pidFile = join(dataDir, 'weir.pid');
  const lock = openLock(dataDir, pidFile);
  held.add(lock);
  try {
    // The old file is removed first, so that root does not follow a symbolic link that someone has put in its place.
    rmSync(pidFile, { force: true });
    writeFileSync(pidFile, `${process.pid}\n`, { flag: 'wx', mode: 0o644 });
  } catch {
    rmSync(pidFile, { force: true }); // The file is only for information, so a full disk must not prevent the start.
  }
  return {
    dataDir,
    taken: Promise.resolve(),
    release() {
      if (!lock.isOpen) return;
      rmSync(pidFile, { force: true });
      held.delete(lock);
      lock.close();
    },
  };
}

/**
 * File that every data directory since 0.1.0 contains; older ones only contain the lock file. The file is written
 * before the lock is taken, and checked after that, so that a directory that another process is just creating is not
 * rejected.
 */
const MARK = 'made-by-0.1.0-or-later';

/** Explains why data from before 0.1.0 is rejected, and how to keep its settings. */
export function tooOld(what: string): string {
  return (
    `${what} was created by a version of Weir older than 0.1.0 and was not changed. To keep its settings, run "weir backup FILE" with ` +
    'the commit that created it, start this version with an empty data directory and an empty database, and run "weir restore FILE"'
  );
}

/** @throws {DataDirError} if a release older than 0.1.0 used the directory; changes nothing. */
export function refuseOldDataDir(directory: string): void {
  const wasUsed = existsSync(join(directory, 'lock'));
  if (wasUsed && !existsSync(join(directory, MARK)))
    throw new DataDirError('unusable', tooOld(`data directory ${resolve(directory)}`));
}

function createDataDir(dataDir: string): void {
  try {
    // Other users may enter the directory, but not list it: if Weir is root, PostgreSQL runs as another user.
    if (mkdirSync(dataDir, { recursive: true }) !== undefined) chmodSync(dataDir, 0o711);
  } catch (cause) {
    throw new DataDirError(
      'unusable',
      `could not create data directory ${dataDir}: ${folderFault(cause)}`,
      cause,
    );
  }
}

function openLock(dataDir: string, pidFile: string): DatabaseSync {
  let lock: DatabaseSync | undefined;
  try {
    for (const name of [MARK, 'lock']) createPrivate(join(dataDir, name));
    lock = new DatabaseSync(join(dataDir, 'lock'), { timeout: 0 });
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return lock;
  } catch (cause) {
    if (lock?.isOpen) lock.close();
    if (isBusy(cause)) {
      const message = `data directory ${dataDir} is in use by another Weir process${holder(pidFile)}`;
      throw new DataDirError('in_use', message, cause);
    }
    throw new DataDirError(
      'unusable',
      `could not lock data directory ${dataDir}: ${deeperReason(dataDir, cause)}`,
      cause,
    );
  }
}

/**
 * Creates an empty file that only its owner can read, unless the file exists. A user who can read the lock file can
 * lock it, and so prevent Weir from starting.
 */
function createPrivate(file: string): void {
  try {
    writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw error;
    if (!lstatSync(file).isFile()) throw new Error(`${file} is not a regular file`, { cause: error });
  }
}

/** SQLite only reports the failure; examining the directory shows the reason. */
function deeperReason(dataDir: string, error: unknown): string {
  try {
    accessSync(dataDir, constants.W_OK | constants.X_OK);
    accessSync(join(dataDir, 'lock'), constants.R_OK | constants.W_OK);
    return folderFault(error);
  } catch (cause) {
    return folderFault(cause);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY;
}

function holder(pidFile: string): string {
  try {
    return ` (process ${readFileSync(pidFile, 'utf8').trim()})`;
  } catch {
    return ''; // The holder of the lock is just starting or is in another container, so the message has no process id.
  }
}

/** Reason why the directory cannot be used, in the wording of the shell if the system gave a code. */
function folderFault(error: unknown): string {
  return FAULTS[errorCode(error)] ?? reasonOf(error);
}

const FAULTS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'read-only file system',
  ENOSPC: 'no space left on device',
  EDQUOT: 'disk quota exceeded',
  ENOTDIR: 'a part of the path is not a directory',
  EEXIST: 'a file of that name exists',
};
