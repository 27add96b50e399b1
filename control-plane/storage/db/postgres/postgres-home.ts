/**
 * Location of the embedded cluster: `<data_dir>/postgres`, or, if Weir is root and the user that runs PostgreSQL cannot
 * access the data directory (as under `/root`), a directory in `/var/lib/weir-postgres`, which is recorded in
 * `<data_dir>/postgres.location`. Starts nothing.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { hasErrorCode, reasonOf } from '../../../../shared/errors.ts';
import { canTraverse, choosePostgresAccount } from './postgres-account.ts';
import { makeOwnedFolder, replaceOwnedFile } from './owned-files.ts';
import type { PostgresAccount } from './postgres-account.ts';

/** The directory that contains all files of the embedded server, and its owner. */
export interface PostgresHome {
  readonly dir: string;
  /** PostgreSQL's own data directory, in `dir`. */
  readonly cluster: string;
  readonly account: PostgresAccount;
  /** True if the cluster is not in the data directory, which is then reported to users. */
  readonly isElsewhere: boolean;
}

/** Parent directory of the fallback location. */
const ELSEWHERE = '/var/lib/weir-postgres';

/** Chooses and creates the home directory. Errors contain the path and what to do. */
export function openPostgresHome(dataDir: string, elsewhere = ELSEWHERE): PostgresHome {
  const preferred = join(dataDir, 'postgres');
  const pointer = join(dataDir, 'postgres.location');
  const recorded = recordedIn(pointer);
  const account = choosePostgresAccount(recorded ?? preferred, dataDir);
  const dir =
    recorded ?? (canTraverse(dataDir, account) ? preferred : fallbackFor(dataDir, preferred, elsewhere));
  createOwned(dir, account);
  if (!canTraverse(dirname(dir), account)) {
    throw new Error(
      `could not open the database in ${dir}: user ${account.name} cannot access its parent directories`,
    );
  }
  if (dir !== preferred && recorded === undefined) replaceOwnedFile(pointer, `${dir}\n`);
  return { dir, cluster: join(dir, 'cluster'), account, isElsewhere: dir !== preferred };
}

/**
 * The directory that an earlier start has chosen. Throws if another user may have written the file, because that user
 * could then choose a directory for root.
 */
function recordedIn(pointer: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(pointer, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw new Error(`could not read ${pointer}: ${reasonOf(error)}`, { cause: error });
  }
  try {
    const state = fstatSync(fd);
    if (!state.isFile()) throw new Error(`could not read ${pointer}: not a regular file`);
    const folder = readFileSync(fd, 'utf8').trim();
    // If another user wrote the file, root must not create a directory there, but may use a directory that this user
    // owns.
    const isOwn = state.uid === 0 || state.uid === process.geteuid?.();
    if (isOwn || ownerOf(folder) === state.uid) return folder;
    throw new Error(
      `could not use ${pointer}: user id ${state.uid} may not choose ${folder}; run: chown root ${pointer}`,
    );
  } finally {
    closeSync(fd);
  }
}

function ownerOf(folder: string): number | undefined {
  return lstatSync(folder, { throwIfNoEntry: false })?.uid;
}

function fallbackFor(dataDir: string, preferred: string, elsewhere: string): string {
  if (existsSync(join(preferred, 'cluster'))) {
    throw new Error(
      `could not open the database in ${preferred}: its user cannot access its parent directories; open ` +
        'them (chmod o+x) or move the data directory',
    );
  }
  const mark = createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 16);
  return join(elsewhere, mark);
}

/** Creates a directory that only the account (and root) can enter. */
export function createOwned(dir: string, account: PostgresAccount): void {
  const parent = join(dir, '..');
  if (!existsSync(parent)) mkdirSync(parent, { recursive: true, mode: 0o711 });
  if (!existsSync(dir)) makeOwnedFolder(dir, account);
  const owner = statSync(dir).uid;
  if (owner === account.uid) return;
  throw new Error(
    `could not open ${dir}: it belongs to user id ${owner}, not to ${account.name}; ` +
      (account.isSelf
        ? 'start Weir as the user that started it first, or as root'
        : `change its owner to ${account.name} with chown -R`),
  );
}

/** Whether the home directory contains a cluster. */
export function hasCluster({ cluster }: PostgresHome): boolean {
  return existsSync(join(cluster, 'PG_VERSION'));
}

/** Major version of the server that created the cluster. */
export function madeBy({ cluster }: PostgresHome): number {
  return Number.parseInt(readFileSync(join(cluster, 'PG_VERSION'), 'utf8'), 10);
}
