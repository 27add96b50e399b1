/**
 * Detects a restore in a database that is in use: the database is first empty, then partly filled, and at the end has
 * different tables. Anything that a node created or read in the meantime would block the restore, or would be policy
 * that no user defined.
 */
import { DatabaseUnavailable } from './database-errors.ts';
import type { Queryable } from './queryable.ts';

/**
 * SQL that identifies the tables: different tables have another name; null means that a restore is not complete.
 * Foreign keys are the first that `pg_restore --clean` removes and the last that any restore creates, so all rows exist
 * once they do.
 */
export const TABLES = `(SELECT conrelid::text FROM pg_constraint
  WHERE conrelid = to_regclass('managed_domains') AND contype = 'f' LIMIT 1)`;
/** Condition: there are no tables of Weir. */
const NONE = `to_regclass('groups') IS NULL AND to_regclass('managed_domains') IS NULL`;

const HALF_DONE = 'a restore is not complete: the foreign key of the table "managed_domains" is missing';
const EMPTIED =
  'the database is empty, as before a restore: nothing is created in it unless Weir is restarted';

/**
 * The name of the tables; null = there are none, and they may be created. @throws {DatabaseUnavailable} during a
 * restore; with `wasUsed` also for an empty database, as this process has used it
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
