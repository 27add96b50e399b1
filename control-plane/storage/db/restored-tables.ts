/**
 * Detects a restore in a database that is in use: first it is empty, then partly filled, then it has other tables than
 * before. Anything that a node created or read at that time would block the restore, or would be policy that no user
 * made.
 */
import { DatabaseUnavailable } from './database-errors.ts';
import type { Queryable } from './queryable.ts';

/**
 * SQL that names the tables: other ones have another name, and null are those whose restore is not done. Foreign keys
 * are the first that `pg_restore --clean` removes and the last that any restore makes, so all rows are there with them.
 */
export const TABLES = `(SELECT conrelid::text FROM pg_constraint
  WHERE conrelid = to_regclass('managed_domains') AND contype = 'f' LIMIT 1)`;
/** Condition that there is no table of Weir. */
const NONE = `to_regclass('groups') IS NULL AND to_regclass('managed_domains') IS NULL`;

const HALF_DONE = 'a restore is not done: the foreign key of the table "managed_domains" is missing';
const EMPTIED = 'the database is empty, as before a restore: nothing is made in it unless Weir is restarted';

/**
 * The name of the tables; null = there are none, and they may be created.
 * @throws {DatabaseUnavailable} during a restore; with `wasUsed` also for an empty database, as this process has used
 * it
 */
export async function askTables(client: Queryable, wasUsed: boolean): Promise<string | null> {
  const { rows } = await client.query<{ tables: string | null; isEmpty: boolean }>(
    `SELECT ${TABLES} AS tables, ${NONE} AS "isEmpty"`,
  );
  const { tables, isEmpty } = rows[0]!;
  if (tables !== null) return tables;
  if (!isEmpty) throw new DatabaseUnavailable(HALF_DONE);
  if (wasUsed) throw new DatabaseUnavailable(EMPTIED);
  return null;
}

/** @throws {DatabaseUnavailable} if the tables are not those that were in use */
export function refuseOtherTables(tables: string | null, inUse: string): void {
  if (tables === inUse) return;
  throw new DatabaseUnavailable(
    tables === null ? HALF_DONE : 'its tables were created again, as by a restore',
  );
}
