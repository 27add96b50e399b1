/** The size of the database on its disk. */
import type { Queryable } from '../../storage/db/database.ts';

/** Size of Weir's database in bytes, including indexes. */
export async function readDatabaseBytes(database: Queryable): Promise<number> {
  const { rows } = await database.query<{ bytes: number }>(
    'SELECT pg_database_size(current_database())::bigint AS bytes',
  );
  return rows[0]!.bytes;
}
