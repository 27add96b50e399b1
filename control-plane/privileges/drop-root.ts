/**
 * A Weir that was started as root becomes the user `weir` before any part of it starts, by executing itself again. If
 * that user is missing, or would not reach what Weir needs, Weir stays root and says what to do.
 */
import { closeSync, constants, existsSync, lstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import type { Config } from '../../config/schema.ts';
import type { LoadedConfig } from '../../config/parse-config.ts';
import { reasonOf } from '../../shared/thrown.ts';
import { readAccounts } from '../accounts/accounts.ts';
import type { Account } from '../accounts/accounts.ts';
import { asAccount } from '../accounts/as-account.ts';
import { makeFolderFor } from './made-folder.ts';
import { firstForeign } from './owned-tree.ts';
import { becomeAccount, loadPrivilegeCalls, missingCapabilities } from './privilege-calls.ts';
import type { PrivilegeCalls } from './privilege-calls.ts';
import { isRunByRoot } from './running-user.ts';

/** Why Weir stays root, and what the operator can do. */
export interface StaysRoot {
  readonly reason: string;
  readonly remedy: string;
}

/** The user that the package creates. */
const NAME = 'weir';
const RELEASE = join(import.meta.dirname, '..', '..');

/**
 * Replaces this process by one of the user `weir`, and then does not return. Returns undefined for an ordinary user, and
 * why Weir stays root. Throws if switching fails halfway.
 */
export function dropRoot(loaded: LoadedConfig, takesOver: boolean): StaysRoot | undefined {
  if (process.geteuid?.() !== 0) return undefined;
  const account = readAccounts().find(({ name }) => name === NAME);
  if (account === undefined || account.uid === 0)
    return { reason: `there is no user ${NAME}`, remedy: CREATE };
  const native = loadPrivilegeCalls();
  if ('reason' in native)
    return { reason: `the calls to switch users are missing: ${native.reason}`, remedy: BY_SETPRIV };
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

/** What keeps Weir from running as the account; undefined if nothing does. The data directory is made if it is missing. */
function obstacleOf(
  account: Account,
  loaded: LoadedConfig,
  takesOver: boolean,
  calls: PrivilegeCalls,
): StaysRoot | undefined {
  const missing = missingCapabilities();
  if (missing.length > 0)
    return { reason: `this root lacks ${missing.join(', ')}`, remedy: 'run the container as the user weir' };
  const dataDir = resolve(loaded.config.server.data_dir);
  // It would refuse this process as another user.
  if (takesOver && isRunByRoot(dataDir))
    return {
      reason: 'the running Weir is root',
      remedy: 'stop it and start it again, instead of an upgrade',
    };
  const closed = asAccount(account, () => firstClosed(loaded, calls));
  if (closed !== undefined) return { reason: `user ${NAME} has no access to ${closed}`, remedy: OPEN };
  return dataDirObstacle(account, dataDir);
}

const OPEN =
  'install the release where every user can read it, such as /opt/weir, and let the group weir read the file ' +
  '(chgrp weir, chmod g+r); then restart';

function dataDirObstacle(account: Account, dataDir: string): StaysRoot | undefined {
  if (!existsSync(dataDir)) {
    try {
      makeFolderFor(dataDir, account);
      return undefined;
    } catch (error) {
      return { reason: `cannot create ${dataDir} for user ${NAME}: ${reasonOf(error)}`, remedy: OPEN };
    }
  }
  const real = realpathSync(dataDir);
  const folders = [real, ...databaseElsewhere(real)];
  for (const folder of folders) {
    const foreign = firstForeign(folder, account.uid);
    if (foreign !== undefined) return foreignTo(foreign, folders);
  }
  if (asAccount(account, () => mayOpen(real))) return undefined;
  return { reason: `user ${NAME} has no access to ${real}`, remedy: OPEN };
}

/** The folder of an embedded database that is not in the data directory. */
function databaseElsewhere(dataDir: string): string[] {
  const pointer = join(dataDir, 'postgres.location');
  const isThere = lstatSync(pointer, { throwIfNoEntry: false })?.isFile() === true;
  return isThere ? [readFileSync(pointer, 'utf8').trim()] : [];
}

/** Not `chown -R`: it would also give away the release's programs, to which the data directory has hard links. */
function foreignTo(path: string, folders: readonly string[]): StaysRoot {
  const give = `find ${folders.map(shellWord).join(' ')} ! -type d -links +1 -o -exec chown -h ${NAME}: {} +`;
  return {
    reason: `${path} does not belong to user ${NAME}`,
    remedy: `stop Weir, run: ${give}; then start it`,
  };
}

/** A word of the shell that stands for the path. */
function shellWord(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** The first of the paths that Weir needs which the effective user cannot use. */
function firstClosed({ file, config }: LoadedConfig, calls: PrivilegeCalls): string | undefined {
  if (calls.euidaccess(process.execPath, constants.X_OK) !== 0) return process.execPath;
  const release = [process.argv[1]!, join(RELEASE, 'control-plane', 'start.ts'), koffiFile()];
  return [...release, ...(file === undefined ? [] : [file]), './.', ...filesOf(config)].find(
    (path) => !mayOpen(path),
  );
}

function koffiFile(): string {
  return createRequire(import.meta.url).resolve('koffi');
}

/** Files that the configuration names. One that does not exist is not Weir's to look for here. */
function filesOf({ server, dns, auth }: Config): string[] {
  const { web_tls: web, encrypted_dns: encrypted } = server;
  const named = [
    ...[web.tls_cert_path, web.tls_key_path, encrypted.tls_cert_path, encrypted.tls_key_path],
    ...[dns.dnssec_trust_anchors, dns.upstream_ca_path, ...dns.dhcp_leases],
    auth.oidc.client_secret_file,
  ];
  return named.filter((path) => path !== '');
}

/** Whether the effective user can read the file or folder; true if it does not exist. */
function mayOpen(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
}
