/**
 * Statements that only the owner of the tables may run, for tests that change or empty tables. Weir itself never runs
 * them.
 */
import type { QueryResultRow } from 'pg';
import type { Database } from '../../../control-plane/storage/db/database.ts';
import type { QueryRows } from '../../../control-plane/storage/db/queryable.ts';

/** Runs statements in a transaction as the owner. */
export function asOwner<Row extends QueryResultRow>(
  database: Database,
  sql: string,
  values: readonly unknown[] = [],
): Promise<QueryRows<Row>> {
  return database.transactionAsOwner((tx) =>
    values.length === 0 ? tx.query<Row>(sql) : tx.query<Row>(sql, values),
  );
}
