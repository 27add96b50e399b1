/**
 * If Weir is started as root, it switches to the user `weir` before any part starts, by executing itself again. If this
 * user does not exist, or cannot access the files that Weir needs, Weir stays root and logs what to do.
 */
import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  readdirSync,
  mkdirSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import type { LoadedConfig } from '../../../config/parse-config.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { readAccounts } from '../../host/accounts/system-users.ts';
import type { Account } from '../../host/accounts/system-users.ts';
import { asAccount } from '../../host/accounts/as-account.ts';
import { becomeAccount, loadPrivilegeCalls, missingCapabilities } from './privilege-calls.ts';
import type { PrivilegeCalls } from './privilege-calls.ts';
import { makeOwnedFolder } from '../../storage/db/postgres/owned-files.ts';
import { loadDescriptorCalls } from '../upgrade/descriptor-calls.ts';
import { peerUser } from '../upgrade/descriptor-messages.ts';
import { HANDOVER_SOCKET } from '../upgrade/handover-format.ts';
import { connectUnix } from '../upgrade/unix-connection.ts';

/** Reason why Weir stays root, and what the operator can do. */
export interface StaysRoot {
  readonly reason: string;
  readonly remedy: string;
}

/** The user that the installation package creates. */
const NAME = 'weir';
const RELEASE = join(import.meta.dirname, '..', '..', '..');

/**
 * Replaces this process with one of the user `weir`, and then does not return. Returns undefined for an ordinary user,
 * and the reason if Weir stays root. Throws if switching fails after some of its steps.
 */
export function dropRoot(loaded: LoadedConfig, takesOver: boolean): StaysRoot | undefined {
  if (process.geteuid?.() !== 0) return undefined;
  const account = readAccounts().find(({ name }) => name === NAME);
  if (account === undefined || account.uid === 0)
    return { reason: `user ${NAME} does not exist`, remedy: CREATE };
  const native = loadPrivilegeCalls();
  if ('reason' in native)
    return { reason: `system calls for switching users are missing: ${native.reason}`, remedy: BY_SETPRIV };
  const { calls } = native;
  const staying = obstacleOf(account, loaded, takesOver, calls);
  if (staying !== undefined) return staying;
  becomeAccount(calls, account);
  const { name, home } = account;
  const argv = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  return process.execve!(process.execPath, argv, { ...process.env, HOME: home, USER: name, LOGNAME: name });
}

const CREATE =
  'create it: useradd --system --home-dir /var/lib/weir --shell /usr/sbin/nologin weir; ' +
  'then restart Weir';
const BY_SETPRIV =
  'start Weir as: setpriv --reuid=weir --regid=weir --init-groups --bounding-set=-all,+net_bind_service ' +
  '--inh-caps=-all,+net_bind_service --ambient-caps=-all,+net_bind_service --no-new-privs weir start';

/** Reason why Weir cannot run as the account; undefined if it can. Creates the data directory if it is missing. */
function obstacleOf(
  account: Account,
  loaded: LoadedConfig,
  takesOver: boolean,
  calls: PrivilegeCalls,
): StaysRoot | undefined {
  const missing = missingCapabilities();
  if (missing.length > 0)
    return { reason: `root lacks ${missing.join(', ')}`, remedy: 'run the container as the user weir' };
  const dataDir = resolve(loaded.config.server.data_dir);
  // The running process would refuse a handover to a process of another user.
  if (takesOver && isRunByRoot(dataDir))
    return {
      reason: 'the running process of Weir runs as root',
      remedy: 'stop it and start it again, instead of an upgrade',
    };
  const isClosed = (path: string): boolean =>
    !isOnWayOf(account, path) && !asAccount(account, () => mayOpen(path));
  const closed =
    asAccount(account, () => calls.euidaccess(process.execPath, constants.X_OK)) === 0
      ? [...releaseFiles(), ...(loaded.file === undefined ? [] : [loaded.file]), './.'].find(isClosed)
      : process.execPath;
  if (closed !== undefined) return closedPath(closed);
  // If the account controls the configuration file, paths in this file must not be a reason to stay root.
  if (loaded.file !== undefined && isOnWayOf(account, loaded.file)) return undefined;
  const named = namedFiles(loaded).find(isClosed);
  return named === undefined ? dataDirObstacle(account, dataDir) : closedPath(named);
}

/**
 * Whether the account owns the path, or a directory or link that leads to it. The account can then make the path
 * inaccessible itself. This must not be a reason to stay root, because root would follow links that the account
 * creates.
 */
function isOnWayOf({ uid }: Account, path: string): boolean {
  for (let at = resolve(path); ; at = dirname(at)) {
    if (lstatSync(at, { throwIfNoEntry: false })?.uid === uid) return true;
    if (at === dirname(at)) return false;
  }
}

function closedPath(path: string): StaysRoot {
  return { reason: `user ${NAME} has no access to ${path}`, remedy: OPEN };
}

const OPEN =
  'install the release in a directory that every user can read, such as /opt/weir, and make the file ' +
  'readable for the group weir (chgrp weir, chmod g+r); then restart Weir';

function dataDirObstacle(account: Account, dataDir: string): StaysRoot | undefined {
  if (!existsSync(dataDir)) {
    try {
      makeFolderFor(dataDir, account);
      return undefined;
    } catch (error) {
      return { reason: `could not create ${dataDir} for user ${NAME}: ${reasonOf(error)}`, remedy: OPEN };
    }
  }
  const real = realpathSync(dataDir);
  const foreign = firstForeign(real, account.uid);
  if (foreign !== undefined) return foreignTo(foreign, [real, ...databaseElsewhere(real)]);
  const closed = firstUnentered(account, dirname(real));
  return closed === undefined || isOnWayOf(account, closed) ? undefined : closedPath(closed);
}

/** The first directory on `path`, including `path` itself, that the account cannot enter. */
function firstUnentered(account: Account, path: string): string | undefined {
  const above = path === dirname(path) ? undefined : firstUnentered(account, dirname(path));
  return above ?? (asAccount(account, () => mayEnter(path)) ? undefined : path);
}

/**
 * Directory of an embedded database outside the data directory; a path that Weir would not use for this purpose is
 * ignored.
 */
function databaseElsewhere(dataDir: string): string[] {
  const pointer = join(dataDir, 'postgres.location');
  if (lstatSync(pointer, { throwIfNoEntry: false })?.isFile() !== true) return [];
  const folder = readFileSync(pointer, 'utf8').trim();
  return /^\/var\/lib\/weir-postgres\/[0-9a-f]{16}$/.test(folder) ? [folder] : [];
}

/**
 * The command is not `chown -R`, because the data directory contains hard links to programs of the release, whose owner
 * must not change. `-execdir` uses names relative to their own directory, so that a symbolic link cannot lead
 * elsewhere.
 */
function foreignTo(path: string, folders: readonly string[]): StaysRoot {
  const give = `find ${folders.map(shellWord).join(' ')} ! -type d -links +1 -o -execdir chown -h ${NAME}: {} +`;
  return {
    reason: `${path} does not belong to user ${NAME}`,
    remedy: `stop Weir, run: ${give}; then start it`,
  };
}

/** The path, quoted for the shell. */
function shellWord(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Files of the release that Weir reads at start. */
function releaseFiles(): string[] {
  return [process.argv[1]!, join(RELEASE, 'package.json'), koffiFile()];
}

function koffiFile(): string {
  return createRequire(import.meta.url).resolve('koffi');
}

/** Files in the configuration, without those that can be set through the API. */
function namedFiles({ config, given: { local = [] } }: LoadedConfig): string[] {
  const { server, dns, auth, database } = config;
  const { web_tls: web, encrypted_dns: encrypted } = server;
  const set = (key: string, paths: readonly string[]): readonly string[] =>
    local.includes(key) ? [] : paths;
  const named = [
    ...[web.tls_cert_path, web.tls_key_path, encrypted.tls_cert_path, encrypted.tls_key_path],
    dns.dnssec_trust_anchors,
    ...[database.password_file, database.owner_password_file],
    ...set('database.sslrootcert', [database.sslrootcert]),
    ...set('dns.upstream_ca_path', [dns.upstream_ca_path]),
    ...set('dns.dhcp_leases', dns.dhcp_leases),
    ...set('auth.oidc.client_secret_file', [auth.oidc.client_secret_file]),
    ...set('server.acme.directory_ca_path', [server.acme.directory_ca_path]),
    ...set('server.acme.tsig_key_file', [server.acme.tsig_key_file]),
  ];
  return named.filter((path) => path !== '');
}

function mayEnter(folder: string): boolean {
  try {
    statSync(`${folder}/.`);
    return true;
  } catch {
    return false;
  }
}

/** Whether the effective user can read the file or directory; true if it does not exist. */
function mayOpen(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
}

/**
 * The first file in `folder`, or the directory itself, that belongs to another user; undefined if there is none. Does
 * not follow symbolic links. A file with several hard links is ignored, because PostgreSQL's programs are hard links to
 * files of the release.
 */
function firstForeign(folder: string, uid: number): string | undefined {
  const state = lstatSync(folder, { throwIfNoEntry: false });
  if (state === undefined) return undefined;
  if (!state.isDirectory()) return state.uid === uid || state.nlink > 1 ? undefined : folder;
  if (state.uid !== uid) return folder;
  for (const name of readdirSync(folder)) {
    const found = firstForeign(join(folder, name), uid);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Creates a directory that only the account (and root) can enter, and its parents. Throws if the account cannot access
 * it.
 */
function makeFolderFor(path: string, account: Account): void {
  const parent = dirname(path);
  const firstMade = mkdirSync(parent, { recursive: true });
  asAccount(account, () => statSync(`${firstMade ?? parent}/.`));
  makeOwnedFolder(path, { ...account, isSelf: false });
}

const TIMEOUT_MS = 1000;

/**
 * Whether root listens for upgrades in the data directory. The kernel is queried, because files in the directory may
 * belong to another user.
 */
function isRunByRoot(dataDir: string): boolean {
  const loaded = loadDescriptorCalls();
  if ('reason' in loaded) return false;
  const { calls } = loaded;
  let socket: number;
  try {
    socket = connectUnix(calls, join(dataDir, HANDOVER_SOCKET), TIMEOUT_MS);
  } catch {
    return false; // No process is running there; the start reports this.
  }
  try {
    return peerUser(calls, socket) === 0;
  } finally {
    calls.close(socket);
  }
}
