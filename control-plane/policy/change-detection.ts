/**
 * SQL that reads what a transaction has changed of policy. Rows that were rewritten unchanged, or removed and restored,
 * do not count, nor do timestamps.
 */
import type { Queryable } from '../db/database.ts';
import { COPIED, hasKey, NOTED } from './noted-tables.ts';
import type { NotedTable } from './noted-tables.ts';

/** A row as it was and as it is, in the columns of its table. */
export interface ChangedRow {
  readonly table: string;
  /** Its key columns, with blanks between. */
  readonly key: string;
  /** Null = it did not exist. */
  readonly before: Readonly<Record<string, unknown>> | null;
  /** Null = it is gone. */
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** Rows that a transaction has changed. */
export interface ChangedRows {
  /** At most `MOST_ROWS`. */
  readonly rows: readonly ChangedRow[];
  /** How many there are. */
  readonly count: number;
}

/** Rows that are told of one change; a rollback may change a hundred thousand. */
export const MOST_ROWS = 1000;

/** What Weir finds out about a list is no policy, except for its content. */
const FACTS: Readonly<Record<string, readonly string[]>> = {
  list_sources: [
    ...['format', 'status', 'rules', 'invalid_lines', 'bytes', 'etag', 'last_modified'],
    ...['last_checked_at', 'last_changed_at', 'last_error', 'held_key'],
  ],
};

const TABLES: readonly NotedTable[] = [...COPIED, ...NOTED];

const listed = (columns: readonly string[]): string =>
  `ARRAY[${columns.map((column) => `'${column}'`).join(', ')}]::text[]`;

/** Rows of a table that are not what they were before the first of their changes since `$1`; the first `$2`. */
function changedRowsOf(table: NotedTable): string {
  const { name } = table;
  const facts = FACTS[name] ?? [];
  const shown = (row: string): string => `${row} - ${listed(facts)}`;
  const compared = (row: string): string => `${row} - ${listed(['updated_at', ...facts])}`;
  return `SELECT first.key, ${shown('first.was')} AS before, ${shown(`to_jsonb(${name})`)} AS after,
      count(*) OVER () AS count
    FROM (SELECT DISTINCT ON (key) key, was FROM policy_changes
      WHERE table_name = '${name}' AND seq > $1 ORDER BY key, seq) first
    LEFT JOIN ${name} ON ${hasKey(table, 'first.key')}
    WHERE ${compared(`to_jsonb(${name})`)} IS DISTINCT FROM ${compared('first.was')}
    ORDER BY first.key LIMIT $2`;
}

/** Position in the log of changed rows; call it before the first change. `bigint` comes as text or number. */
export async function changesBefore(tx: Queryable): Promise<string | number> {
  const { rows } = await tx.query<{ seq: string | number }>(
    'SELECT coalesce(max(seq), 0) AS seq FROM policy_changes',
  );
  return rows[0]!.seq;
}

/** What has changed since that position, table by table. */
export async function changedRows(tx: Queryable, seq: string | number): Promise<ChangedRows> {
  const { rows: written } = await tx.query<{ name: string }>(
    'SELECT DISTINCT table_name AS name FROM policy_changes WHERE seq > $1',
    [seq],
  );
  const found: ChangedRow[] = [];
  let count = 0;
  for (const table of TABLES.filter(({ name }) => written.some((one) => one.name === name))) {
    // At least one, as the count comes with a row.
    const most = Math.max(MOST_ROWS - found.length, 1);
    const { rows } = await tx.query<Omit<ChangedRow, 'table'> & { count: string }>(changedRowsOf(table), [
      seq,
      most,
    ]);
    count += Number(rows[0]?.count ?? 0);
    for (const { key, before, after } of rows)
      if (found.length < MOST_ROWS) found.push({ table: table.name, key, before, after });
  }
  return { rows: found, count };
}
