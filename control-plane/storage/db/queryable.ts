/** Interfaces of connections for running statements, for stores. */
import type { QueryResultRow } from 'pg';
import type { BinaryRow } from './copy/copy-out.ts';

/** The part of a connection that store modules use, inside or outside a transaction. */
export interface Queryable {
  /** Runs one statement; values are passed separately, never in the text. */
  query<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<QueryRows<Row>>;
}

/** Outcome of a statement. */
export interface QueryRows<Row> {
  readonly rows: Row[];
  /** Number of rows returned or changed. */
  readonly rowCount: number | null;
}

/** The part of a connection that reads use, inside or outside a transaction. */
export interface CopyQueryable extends Queryable {
  /** Rows of a query in binary form; it takes no values, so its text may only contain numbers and constants. */
  copyOut(query: string): Promise<BinaryRow[]>;
}
