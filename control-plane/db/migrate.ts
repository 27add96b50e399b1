/**
 * Brings the schema to the state of `migrations/*.sql`. One node at a time: the runner holds an advisory
 * lock, and the other nodes of a cluster wait for it and then find nothing left to do.
 */
import { fileURLToPath } from 'node:url';
import type { ClientBase } from 'pg';
import type { Logger } from '../../shared/log.ts';

const MIGRATIONS_DIR = fileURLToPath(new URL('../../migrations', import.meta.url));

/** The migrations to run and in which direction. */
export interface MigrationRun {
  readonly direction: 'up' | 'down';
  /** How many; all of them unless given. */
  readonly count?: number;
}

/**
 * Runs migrations in one transaction on a connected client. Resolves with their names.
 * @throws when a migration fails; then none of them is in force.
 */
export async function migrate(
  client: ClientBase,
  logger: Logger,
  { direction, count = Infinity }: MigrationRun = { direction: 'up' },
): Promise<string[]> {
  const debug = (message: string): void => logger.debug(message, { component: 'migrations' });
  // Only now: a start need not load it before DNS answers.
  const { runner } = await import('node-pg-migrate');
  const done = await runner({
    dbClient: client,
    dir: MIGRATIONS_DIR,
    direction,
    count,
    migrationsTable: 'schema_migrations',
    advisoryLockMode: 'wait',
    logger: { debug, info: debug, warn: debug, error: debug },
  });
  const names = done.map((migration) => migration.name);
  if (names.length > 0) logger.info(`migrate database ${direction}`, { migrations: names });
  return names;
}
