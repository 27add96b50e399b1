/**
 * Data directories that a Weir server with an earlier PostgreSQL has left; Debian's PostgreSQL stands in for the
 * earlier version.
 *
 * @needs postgresql
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientBase } from 'pg';
import { lockDataDir } from '../../../control-plane/storage/db/data-dir-lock.ts';
import { migrate } from '../../../control-plane/storage/db/migrate.ts';
import { spawnIdentity } from '../../../control-plane/storage/db/postgres/postgres-account.ts';
import { ROLE } from '../../../control-plane/storage/db/postgres/postgres-address.ts';
import {
  openPostgresHome,
  type PostgresHome,
} from '../../../control-plane/storage/db/postgres/postgres-home.ts';
import { useServer } from '../../../control-plane/storage/db/postgres/start-server.ts';
import { MemoryLogger } from './memory-logger.ts';

const DEBIAN = '/usr/lib/postgresql';

/** The oldest major version of PostgreSQL that Debian has installed, and its directory. */
export function debianPostgres(): { major: number; folder: string } {
  const majors = existsSync(DEBIAN)
    ? readdirSync(DEBIAN)
        .map(Number)
        .sort((a, b) => a - b)
    : [];
  const major = majors.find((each) => existsSync(join(DEBIAN, String(each), 'bin', 'postgres')));
  if (major === undefined)
    throw new Error(`no server of an earlier PostgreSQL below ${DEBIAN}: apt-get install postgresql`);
  return { major, folder: join(DEBIAN, String(major)) };
}

const PASSWORD = 'of-before';

/**
 * Creates a migrated cluster of that version, with the server's programs stored as Weir stores them; `fill` adds rows.
 */
export async function layOlderCluster(
  dataDir: string,
  fill: (client: ClientBase) => Promise<unknown>,
): Promise<void> {
  lockDataDir(dataDir).release(); // Creates the directory with its permissions.
  const home = openPostgresHome(dataDir);
  const { major, folder } = debianPostgres();
  symlinkSync(folder, join(home.dir, `runtime-${major}`));
  writeFileSync(join(dataDir, 'postgres.password'), `${PASSWORD}\n`, { mode: 0o600 });
  initdb(home, folder);
  await useOlderCluster(dataDir, async (client) => {
    await migrate(client, new MemoryLogger());
    await fill(client);
  });
}

/** Runs the cluster's server while `work` runs. */
export async function useOlderCluster(
  dataDir: string,
  work: (client: ClientBase) => Promise<unknown>,
): Promise<void> {
  const { signal } = new AbortController();
  const home = openPostgresHome(dataDir);
  const runtime = debianPostgres().folder;
  await useServer({ home, runtime, password: PASSWORD, logger: new MemoryLogger(), signal }, work);
}

/** Earlier versions do not support all options that Weir sets for the current one. */
function initdb({ cluster, dir, account }: PostgresHome, runtime: string): void {
  const passwordFile = join(dir, 'password-for-initdb');
  writeFileSync(passwordFile, PASSWORD);
  const flags = [
    '-D',
    cluster,
    '-U',
    ROLE,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ];
  const { status, stderr } = spawnSync(join(runtime, 'bin', 'initdb'), [...flags, '--pwfile', passwordFile], {
    cwd: dir,
    ...spawnIdentity(account),
  });
  rmSync(passwordFile);
  if (status !== 0) throw new Error(`initdb: ${stderr.toString()}`);
  appendFileSync(join(cluster, 'postgresql.conf'), 'fsync = off\n');
}
