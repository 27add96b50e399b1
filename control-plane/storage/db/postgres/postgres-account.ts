/**
 * The system user that runs PostgreSQL, and whether it can access a path. The server refuses to run as root, so if Weir
 * is root, it starts the server as another user. The programs are started by `postgres-process.ts`.
 */
import { realpathSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { readAccounts } from '../../../host/accounts/system-users.ts';

/** A user of the system. */
export interface PostgresAccount {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  /** True if Weir itself runs as this user, so that no privileges are dropped and no files change owner. */
  readonly isSelf: boolean;
}

/** User and group ids for `child_process`; empty if the user does not change. */
export function spawnIdentity(account: PostgresAccount): { uid?: number; gid?: number } {
  return account.isSelf ? {} : { uid: account.uid, gid: account.gid };
}

/**
 * Chooses the user. An ordinary user runs the server itself. If Weir is root, it chooses the first existing user of
 * these: the owner of an existing cluster (which was created without root), `weir`, the owner of the data directory,
 * `postgres`, and finally `nobody`, which other services share.
 */
export function choosePostgresAccount(cluster: string, dataDir: string): PostgresAccount {
  const uid = process.geteuid?.() ?? 0;
  if (uid !== 0) return { name: ownName(uid), uid, gid: process.getegid?.() ?? uid, isSelf: true };
  const users = readAccounts().map(({ name, uid, gid }) => ({ name, uid, gid, isSelf: false }));
  const owner = (path: string): PostgresAccount | undefined => {
    const id = ownerOf(path);
    return id === undefined || id === 0 ? undefined : users.find((user) => user.uid === id);
  };
  const named = (name: string): PostgresAccount | undefined => users.find((user) => user.name === name);
  const account = owner(cluster) ?? named('weir') ?? owner(dataDir) ?? named('postgres') ?? named('nobody');
  if (account === undefined) {
    throw new Error(
      'could not run the embedded database: PostgreSQL refuses to run as root, and /etc/passwd has no ' +
        'user for it; add the user weir or set database.url',
    );
  }
  return account;
}

/**
 * Whether a user can access `path`: the user needs execute permission on every directory above the path and, if the
 * path is a directory, on it as well.
 */
export function canTraverse(path: string, account: PostgresAccount): boolean {
  if (account.isSelf) return true;
  let at = realpathSync(path);
  for (;;) {
    const stat = statSync(at);
    if (stat.isDirectory() && !mayExecute(stat, account)) return false;
    const parent = dirname(at);
    if (parent === at) return true;
    at = parent;
  }
}

function mayExecute(stat: { uid: number; gid: number; mode: number }, account: PostgresAccount): boolean {
  if (stat.uid === account.uid) return (stat.mode & 0o100) !== 0;
  if (stat.gid === account.gid) return (stat.mode & 0o010) !== 0;
  return (stat.mode & 0o001) !== 0;
}

function ownerOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.uid;
}

function ownName(uid: number): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run with a user id that has no account. Only the first start needs an account, and reports if
    // there is none.
    return `user ${uid}`;
  }
}
