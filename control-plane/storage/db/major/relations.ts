/**
 * SQL that lists the content of a database: tables with their columns, partitions, sequences, and objects that Weir did
 * not create.
 */
import { escapeIdentifier } from 'pg';
import type { ClientBase } from 'pg';

/** A table in the form that COPY needs. */
export interface Table {
  readonly name: string;
  /** The name with its columns in parentheses. */
  readonly route: string;
  readonly sizeBytes: number;
}

/** A partition: a day of the query log. */
export interface Partition extends Table {
  readonly parent: string;
  /** The bounds, as SQL: `FOR VALUES …`. */
  readonly bound: string;
}

/** Objects with this id or a higher one were created by users; lower ids belong to the cluster itself. */
const FIRST_OF_USERS = 16_384;
const COLUMNS = `(SELECT coalesce(json_agg(attname ORDER BY attnum), '[]') FROM pg_attribute
  WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '')`;

interface TableRow {
  readonly name: string;
  readonly columns: readonly string[];
  readonly size: string;
}

/** Tables that are neither partitions nor partitioned. */
export async function listTables(client: ClientBase): Promise<Table[]> {
  const { rows } = await client.query<TableRow>(
    `SELECT relname AS name, ${COLUMNS} AS columns, pg_total_relation_size(c.oid) AS size
     FROM pg_class AS c WHERE relkind = 'r' AND NOT relispartition AND relnamespace = 'public'::regnamespace
     ORDER BY relname`,
  );
  return rows.map(toTable);
}

/** The partitions, newest first. */
export async function listPartitions(client: ClientBase): Promise<Partition[]> {
  const { rows } = await client.query<TableRow & { parent: string; bound: string }>(
    `SELECT c.relname AS name, ${COLUMNS} AS columns, pg_total_relation_size(c.oid) AS size,
       parent.relname AS parent, pg_get_expr(c.relpartbound, c.oid) AS bound
     FROM pg_inherits JOIN pg_class AS c ON c.oid = inhrelid JOIN pg_class AS parent ON parent.oid = inhparent
     WHERE c.relkind = 'r' AND c.relispartition ORDER BY bound DESC, parent DESC`,
  );
  return rows.map((row) => ({ ...toTable(row), parent: row.parent, bound: row.bound }));
}

function toTable({ name, columns, size }: TableRow): Table {
  const route = `${escapeIdentifier(name)} (${columns.map((column) => escapeIdentifier(column)).join(', ')})`;
  return { name, route, sizeBytes: Number(size) };
}

/** A statement that sets the sequences of another database to the state of the sequences of this one. */
export async function sequencesAsSql(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ sql: string }>(
    `SELECT format('SELECT setval(%L, %s, %L);', sequencename, coalesce(last_value, start_value), last_value IS NOT NULL)
     AS sql FROM pg_sequences WHERE schemaname = 'public'`,
  );
  return rows.map(({ sql }) => sql).join('\n');
}

/**
 * Objects in a cluster that Weir's migrations did not create, so that an upgrade would lose them. `known` is a
 * connection to the new cluster, for comparison.
 */
export async function foreignTo(known: ClientBase, client: ClientBase): Promise<string[]> {
  const [own, all] = await Promise.all([labelsOf(known), labelsOf(client)]);
  return all.filter((label) => !own.includes(label));
}

async function labelsOf(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ label: string }>(
    `SELECT 'relation ' || c.oid::regclass || coalesce((SELECT string_agg(' ' || attname || ' ' ||
       format_type(atttypid, atttypmod), ',' ORDER BY attnum) FROM pg_attribute
       WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped), '') AS label
     FROM pg_class AS c WHERE c.oid >= $1 AND relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT relispartition
     UNION ALL SELECT 'function ' || oid::regprocedure FROM pg_proc WHERE oid >= $1
     UNION ALL SELECT 'role ' || rolname FROM pg_roles WHERE oid >= $1
     UNION ALL SELECT 'database ' || datname FROM pg_database WHERE oid >= $1 ORDER BY label`,
    [FIRST_OF_USERS],
  );
  return rows.map(({ label }) => label);
}
