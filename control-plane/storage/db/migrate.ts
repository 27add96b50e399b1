/**
 * Brings the schema to the state of `migrations/*.sql`. One node at a time: it holds an advisory lock, and the other
 * nodes of a cluster wait for this lock and then have nothing to do.
 */
import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ClientBase } from 'pg';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { tooOld } from './data-dir-lock.ts';
import { isConflict, isLockTimeout } from './database-errors.ts';

/** A newer Weir migrated the database; this version could misread its rows. */
export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew';
}

/** A release older than 0.1.0 created the database. */
export class SchemaTooOld extends Error {
  override readonly name = 'SchemaTooOld';
}

/** The migration that creates the schema of 0.1.0, the oldest version whose databases are supported. */
const BASELINE = '0001_schema';
const TABLE = 'schema_migrations';
const MIGRATIONS_DIR = fileURLToPath(new URL('../../../migrations', import.meta.url));

/** Maximum wait for a table in use, because all writes to the table queue behind a waiting migration. */
const LOCK_TIMEOUT = '2s';
/**
 * Pause in milliseconds that lets other sessions proceed; all attempts together outlast the longest scan of the log,
 * which takes a minute.
 */
const PAUSE_MS = 1000;
const MAX_ATTEMPTS = 30;

/** The migrations to run. */
export interface MigrationRun {
  /** Number of migrations; all of them by default. */
  readonly count?: number;
  /** Directory of the migrations; that of this release by default. */
  readonly dir?: string;
}

/**
 * Runs migrations in one transaction on a connected client. Resolves with their names. @throws {SchemaTooNew |
 * SchemaTooOld} before anything is changed @throws when a migration fails; then none of them is applied.
 */
export async function migrate(
  client: ClientBase,
  logger: Logger,
  { count = Infinity, dir = MIGRATIONS_DIR }: MigrationRun = {},
): Promise<string[]> {
  if ((await pendingMigrations(client, dir)) === 0) return [];
  const debug = (message: string): void => logger.debug(message, { component: 'migrations' });
  // Only imported if needed: it loads 4 MB of code for migrations in other languages.
  const { PG_MIGRATE_LOCK_ID, runner } = await import('node-pg-migrate');
  // The runner would take this lock by default, but would only wait for another node as long as for a table.
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
    // Fails if the connection was lost, which also ends both the setting and the lock.
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

/** One short line for the administrator: the numbers of the migrations before and after. The names are for debugging. */
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
      logger.warn('cannot migrate the database while a table is in use; retrying', {
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
