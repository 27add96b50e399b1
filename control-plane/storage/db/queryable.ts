/** Connections for running statements, as seen by stores. */
import type { QueryResultRow } from 'pg';
import type { BinaryRow } from './copy/copy-out.ts';

/** The part of a connection that store modules use, inside a transaction or not. */
export interface Queryable {
  /** Runs one statement; values are passed separately, never in the text. */
  query<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<QueryRows<Row>>;
}

/** Outcome of a statement. */
export interface QueryRows<Row> {
  readonly rows: Row[];
  /** Rows returned or changed. */
  readonly rowCount: number | null;
}

/** The part that reads use, in a transaction or not. */
export interface CopyQueryable extends Queryable {
  /** Rows of a query in binary form; it takes no values, so its text may only contain numbers and constants. */
  copyOut(query: string): Promise<BinaryRow[]>;
}
