/**
 * SQL that reads the changes that a transaction has made to policy. It ignores rows that were rewritten unchanged, or
 * deleted and restored, and also timestamps and facts that Weir itself records about lists and clients.
 */
import type { Queryable } from '../../storage/db/database.ts';
import { LAST_REVISION, NOTED_NOW } from './noted-now.ts';
import { hasKey, NOTED } from './versioned-tables.ts';
import type { NotedTable } from './versioned-tables.ts';

/** A row before and after the change, with the columns of its table. */
export interface ChangedRow {
  readonly table: string;
  /** Values of the key columns, separated by spaces. */
  readonly key: string;
  /** Null = the row did not exist. */
  readonly before: Readonly<Record<string, unknown>> | null;
  /** Null = the row was deleted. */
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** Rows that a transaction has changed. */
export interface ChangedRows {
  /** Changed rows, at most `MAX_ROWS`. */
  readonly rows: readonly ChangedRow[];
  /** Number of all changed rows. */
  readonly count: number;
}

/** Maximum number of rows that are recorded for one change, because a rollback may change a hundred thousand. */
export const MAX_ROWS = 1000;

/** Columns with facts that Weir records about a list. They are not policy, unlike the content of the list. */
const FACTS: Readonly<Record<string, readonly string[]>> = {
  list_sources: [
    ...['format', 'status', 'rules', 'invalid_lines', 'bytes', 'etag', 'last_modified'],
    ...[
      'last_checked_at',
      'last_changed_at',
      'last_error',
      'held_key',
      'held',
      'judged',
      'content_url_key',
      'failures',
      'file_node',
      'has_new_content',
    ],
  ],
};

const listed = (columns: readonly string[]): string =>
  `ARRAY[${columns.map((column) => `'${column}'`).join(', ')}]::text[]`;

/** A CASE expression with a value for each table, by `first.table_name`. */
const byTable = (valueOf: (table: NotedTable) => string): string =>
  `CASE first.table_name ${NOTED.map((table) => `WHEN '${table.name}' THEN ${valueOf(table)}`).join('\n')} END`;

/** The current row as JSON. `key` is qualified, because a table may have a column of this name. */
const rowNow = (table: NotedTable): string =>
  `(SELECT ${table.name === 'clients' ? 'client_settings(clients)' : `to_jsonb(${table.name})`} FROM ${table.name}
    WHERE ${hasKey(table, 'first.key')})`;

/** The earlier row as JSON; for clients, only fields that users set. */
const ROW_BEFORE = `CASE first.table_name WHEN 'clients'
  THEN client_settings(jsonb_populate_record(NULL::clients, was)) ELSE was END`;

/**
 * The first change of each row in this transaction. The condition has a lower and an upper bound, so that the planner
 * uses the index.
 */
const FIRST_CHANGES = `SELECT DISTINCT ON (table_name, key) table_name, key, was FROM policy_changes
    WHERE seq > ${LAST_REVISION} AND seq <= ${LAST_REVISION} + 1000000000000
      AND ${NOTED_NOW}
    ORDER BY table_name, key, seq`;

/**
 * Rows of all tables that differ from their state before the transaction, table by table. A single statement without
 * parameters is fast, because its plan is cached; every change waits for it. OFFSET makes PostgreSQL read each row only
 * once.
 */
const CHANGED_ROWS = `SELECT table_name AS table, key, was - facts AS before, now - facts AS after,
      count(*) OVER () AS count
    FROM (SELECT table_name, key, ${ROW_BEFORE} AS was, ${byTable(rowNow)} AS now,
        ${byTable(({ name }) => listed(FACTS[name] ?? []))} AS facts
      FROM (${FIRST_CHANGES}) first OFFSET 0) changed
    WHERE now - 'updated_at' - facts IS DISTINCT FROM was - 'updated_at' - facts
    ORDER BY array_position(${listed(NOTED.map(({ name }) => name))}, table_name), key LIMIT ${MAX_ROWS}`;

/** Changes of the transaction so far, table by table; no other transaction may change policy at the same time. */
export async function changedRows(tx: Queryable): Promise<ChangedRows> {
  const { rows } = await tx.query<ChangedRow & { count: string }>(CHANGED_ROWS);
  return {
    rows: rows.map(({ table, key, before, after }) => ({ table, key, before, after })),
    count: Number(rows[0]?.count ?? 0),
  };
}
