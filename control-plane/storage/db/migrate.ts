/**
 * Upgrades the schema to the state of `migrations/*.sql`. One node does this under an advisory lock; the other nodes of
 * a cluster wait for the lock and then find nothing to do.
 */
import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ClientBase } from 'pg';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { tooOld } from './data-dir-lock.ts';
import { isConflict, isLockTimeout } from './database-errors.ts';

/** Error: a newer release has migrated the database, so this release could misread its rows. */
export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew';
}

/** Error: a release older than 0.1.0 created the database. */
export class SchemaTooOld extends Error {
  override readonly name = 'SchemaTooOld';
}

/** The migration that creates the schema of 0.1.0, the oldest version whose databases are supported. */
const BASELINE = '0001_schema';
const TABLE = 'schema_migrations';
const MIGRATIONS_DIR = fileURLToPath(new URL('../../../migrations', import.meta.url));

/**
 * Maximum time to wait for a table that is in use. It is short, because all writes to the table queue behind a waiting
 * migration.
 */
const LOCK_TIMEOUT = '2s';
/**
 * Pause in milliseconds between attempts, in which other sessions can use the table. All attempts together take longer
 * than the longest scan of the log, which takes a minute.
 */
const PAUSE_MS = 1000;
const MAX_ATTEMPTS = 30;

/** The migrations to run. */
export interface MigrationRun {
  /** Number of migrations; by default all. */
  readonly count?: number;
  /** Directory of the migrations; by default that of this release. */
  readonly dir?: string;
}

/**
 * Runs migrations in one transaction on a connected client. Resolves with their names. @throws {SchemaTooNew |
 * SchemaTooOld} before anything is changed @throws when a migration fails; none of them is then applied.
 */
export async function migrate(
  client: ClientBase,
  logger: Logger,
  { count = Infinity, dir = MIGRATIONS_DIR }: MigrationRun = {},
): Promise<string[]> {
  if ((await pendingMigrations(client, dir)) === 0) return [];
  const debug = (message: string): void => logger.debug(message, { component: 'migrations' });
  // Imported only if needed, because the module loads 4 MB of code for migrations in other languages.
  const { PG_MIGRATE_LOCK_ID, runner } = await import('node-pg-migrate');
  // By default, the runner would take this lock itself, but would wait for another node only as long as for a table.
  await client.query('SELECT pg_advisory_lock($1)', [PG_MIGRATE_LOCK_ID]);
  const run = () =>
    runner({
      dbClient: client,
      dir,
      direction: 'up',
      count,
      migrationsTable: TABLE,
      singleTransaction: true,
      noLock: true,
      logger: { debug, info: debug, warn: debug, error: debug },
    });
  try {
    await client.query(`SET lock_timeout = '${LOCK_TIMEOUT}'`);
    const names = (await retryWhileInUse(run, logger)).map((migration) => migration.name);
    if (names.length > 0) logChange(logger, names);
    return names;
  } finally {
    // An error is ignored: it means that the connection was lost, which also resets the setting and releases the lock.
    const undo = `RESET lock_timeout; SELECT pg_advisory_unlock(${String(PG_MIGRATE_LOCK_ID)})`;
    await client.query(undo).catch(() => undefined);
  }
}

/**
 * @throws {SchemaTooOld} if the names of the migrations of a database or a copy are those of a release older than 0.1.0
 */
export function refuseOldMigrations(what: string, names: readonly string[]): void {
  if (names.length > 0 && !names.includes(BASELINE)) throw new SchemaTooOld(tooOld(what));
}

/**
 * Logs one short line for administrators, with the number of the last migration before and after, and the names of the
 * migrations for debugging.
 */
function logChange(logger: Logger, names: readonly string[]): void {
  const from = numberOf(names[0]!) - 1;
  const to = numberOf(names.at(-1)!);
  if (from === 0) logger.info('database schema created', { version: to });
  else logger.info('database schema upgraded', { from, to });
  logger.debug('ran migrations', { component: 'migrations', migrations: names });
}

/** Migrations are numbered without gaps from 1. */
function numberOf(migration: string): number {
  return Number.parseInt(migration, 10);
}

/** Retries while other sessions use the tables. */
async function retryWhileInUse<T>(attempt: () => Promise<T>, logger: Logger): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      const isInUse = isLockTimeout(error) || isConflict(error);
      if (!isInUse || attempts === MAX_ATTEMPTS) throw error;
      logger.warn('could not migrate the database, because a table is in use; retrying', {
        reason: reasonOf(error),
      });
      await sleep(PAUSE_MS);
    }
  }
}

/** Number of migrations that the database lacks. @throws {SchemaTooNew | SchemaTooOld} */
async function pendingMigrations(client: ClientBase, dir: string): Promise<number> {
  const known = (await readdir(dir))
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.replace(/\.sql$/, ''));
  const { rows: tables } = await client.query<{ name: string | null }>('SELECT to_regclass($1) AS name', [
    TABLE,
  ]);
  if (tables[0]?.name === null) return known.length;
  const { rows } = await client.query<{ name: string }>(`SELECT name FROM ${TABLE} ORDER BY name`);
  const present = rows.map(({ name }) => name);
  refuseOldMigrations('the database', present);
  const unknown = present.filter((name) => !known.includes(name));
  if (unknown.length === 0) return known.length - present.length;
  throw new SchemaTooNew(
    `the schema of the database is newer than this version of Weir, which does not know ${unknown.join(', ')}: ` +
      'run the version of Weir that created it, or a newer one, or restore an older backup',
  );
}
