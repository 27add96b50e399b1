/**
 * Detects that a database in use is being restored: the database is first empty, then partly filled, and at the end has
 * different tables. During a restore, nodes must neither create tables, which would block the restore, nor read rows,
 * which would be an incomplete policy.
 */
import { DatabaseUnavailable } from './database-errors.ts';
import type { Queryable } from './queryable.ts';

/**
 * SQL of a text that identifies the tables and differs after a restore; null means that a restore is not complete. It
 * checks a foreign key: `pg_restore --clean` removes foreign keys first, and every restore creates them last, so all
 * rows exist if the foreign keys do.
 */
export const TABLES = `(SELECT conrelid::text FROM pg_constraint
  WHERE conrelid = to_regclass('managed_domains') AND contype = 'f' LIMIT 1)`;
/** SQL condition that there are no tables of Weir. */
const NONE = `to_regclass('groups') IS NULL AND to_regclass('managed_domains') IS NULL`;

const HALF_DONE = 'a restore is not complete: the foreign key of the table "managed_domains" is missing';
const EMPTIED =
  'the database is empty, as before a restore: nothing is created in it unless Weir is restarted';

/**
 * The identity of the tables; null = there are no tables, and they may be created. @throws {DatabaseUnavailable} during
 * a restore; with `wasUsed` also for an empty database, because this process has already used its tables
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

/** Checks the identity of the tables. @throws {DatabaseUnavailable} if it differs from that of the tables in use */
export function refuseOtherTables(tables: string | null, inUse: string): void {
  if (tables === inUse) return;
  throw new DatabaseUnavailable(
    tables === null ? HALF_DONE : 'the tables of the database were created again, for example by a restore',
  );
}
