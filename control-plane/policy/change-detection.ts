/**
 * SQL that detects whether a transaction has changed policy. Rows that were rewritten unchanged, or removed and
 * restored, do not count, nor do timestamps.
 */
import type { Queryable } from '../db/database.ts';
import { COPIED, hasKey, NOTED } from './noted-tables.ts';
import type { NotedTable } from './noted-tables.ts';

/** Policy as it was when a transaction began. */
export interface PolicyBefore {
  /** `policy_changes.seq` of the last change before. `bigint` comes as text or number. */
  readonly seq: string | number;
  /** Digest of the tables that are not noted row by row. */
  readonly copied: string;
}

/** Facts about a list are no policy, except for its content. */
const NO_POLICY: Readonly<Partial<Record<(typeof COPIED)[number], readonly string[]>>> = {
  list_sources: [
    ...['format', 'status', 'rules', 'invalid_lines', 'bytes', 'etag', 'last_modified'],
    ...['last_checked_at', 'last_changed_at', 'last_error', 'held_key'],
  ],
};

const digestOf = (name: (typeof COPIED)[number]): string => {
  const left = ['updated_at', ...(NO_POLICY[name] ?? [])].map((column) => `'${column}'`).join(', ');
  return `(SELECT string_agg(row::text, E'\\n' ORDER BY row::text)
    FROM (SELECT to_jsonb(t) - ARRAY[${left}] AS row FROM ${name} t) rows)`;
};
const COPIED_DIGEST = `md5(concat_ws(E'\\n\\n', ${COPIED.map(digestOf).join(', ')}))`;
const READ = `SELECT (SELECT coalesce(max(seq), 0) FROM policy_changes) AS seq, ${COPIED_DIGEST} AS copied`;

const WRITTEN = `SELECT ${COPIED_DIGEST} AS copied,
  ARRAY(SELECT DISTINCT table_name FROM policy_changes WHERE seq > $1) AS tables`;

/** Whether a row that was noted since is not what it was before the first of its changes. */
const isChanged = (table: NotedTable): string =>
  `SELECT EXISTS (SELECT FROM (SELECT DISTINCT ON (key) key, was FROM policy_changes
       WHERE table_name = '${table.name}' AND seq > $1 ORDER BY key, seq) first
     LEFT JOIN ${table.name} ON ${hasKey(table, 'first.key')}
     WHERE to_jsonb(${table.name}) - 'updated_at' IS DISTINCT FROM first.was - 'updated_at') AS changed`;

/** Call it before the first change. */
export async function policyBefore(tx: Queryable): Promise<PolicyBefore> {
  const { rows } = await tx.query<PolicyBefore & { seq: string }>(READ);
  return rows[0]!;
}

/** Whether policy has changed since. */
export async function hasChanged(tx: Queryable, { seq, copied }: PolicyBefore): Promise<boolean> {
  const { rows } = await tx.query<{ copied: string; tables: string[] }>(WRITTEN, [seq]);
  const [now] = rows;
  if (now!.copied !== copied) return true;
  for (const table of NOTED.filter(({ name }) => now!.tables.includes(name))) {
    const { rows: answer } = await tx.query<{ changed: boolean }>(isChanged(table), [seq]);
    if (answer[0]!.changed) return true;
  }
  return false;
}
