/**
 * SQL of `config_values`: the configuration of the cluster, with a row for each key that was set. A trigger records
 * each change of keys in `[dns]` and `[blocking]`, so that revisions include these keys.
 */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import { isSecret, isSameValue, pickValues, type Values } from '../../../config/layers.ts';
import type { Author } from '../../api/caller.ts';
import { recordAudit } from '../audit/audit-store.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { Changed } from '../change/change.ts';
import { deleteChanges } from '../change/noted-now.ts';

/** Values of all rows, by key. */
export async function readConfigRows(db: Queryable): Promise<Values> {
  const { rows } = await db.query<{ key: string; value: unknown }>('SELECT key, value FROM config_values');
  return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
}

/** Keys that one change of the configuration sets; undefined = reset to the default. */
export interface ConfigChanges {
  /** Keys of the cluster before and after the change. */
  readonly rows: { readonly before: Values; readonly after: Values };
  /** Keys of the node before and after the change; they have no rows. */
  readonly node: { readonly before: Values; readonly after: Values };
}

/** Writes the rows that differ. If the change does not create a revision, also writes the entry of the audit log. */
export async function writeConfigRows(
  tx: Queryable,
  author: Author,
  { rows, node }: ConfigChanges,
): Promise<Changed<null>> {
  const differing = keysThatDiffer(rows);
  await putConfigRows(tx, pickValues(rows.after, differing));
  const names = [...differing, ...keysThatDiffer(node)];
  if (names.length === 0) return { result: null, summary: null };
  const before = withoutSecrets(pickValues({ ...rows.before, ...node.before }, names));
  const after = withoutSecrets(pickValues({ ...rows.after, ...node.after }, names));
  const subject = codedSubject('configuration', { keys: names.join(', ') });
  const change = { subject, action: codedAction('changed') };
  if (differing.some(isPolicyKey)) {
    const outside = names.filter((name) => !isPolicyKey(name));
    return {
      result: null,
      summary: change,
      outside: outside.map((key) => ({
        table: 'configuration',
        key,
        before: { value: before[key] ?? null },
        after: { value: after[key] ?? null },
      })),
    };
  }
  await recordAudit(tx, { actor: author, ...change, before, after });
  return { result: null, summary: null };
}

/**
 * At the first call in a cluster, writes the values of the file as rows, and returns true. Later calls do nothing and
 * return false. Revisions start from these rows, but the rows are not a revision themselves.
 */
export async function seedConfig(tx: Queryable, file: Values): Promise<boolean> {
  const { rows } = await tx.query(
    `INSERT INTO meta (key, value) VALUES ('config_seeded', 'true') ON CONFLICT DO NOTHING RETURNING key`,
  );
  if (rows.length === 0) return false;
  await putConfigRows(tx, file);
  await deleteChanges(tx);
  return true;
}

/** Writes rows, as part of a change whose revision and audit entry are written elsewhere; undefined = no row. */
export async function putConfigRows(tx: Queryable, values: Values): Promise<void> {
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) await tx.query('DELETE FROM config_values WHERE key = $1', [key]);
    else
      await tx.query(
        `INSERT INTO config_values (key, value) VALUES ($1, $2)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = now()`,
        [key, JSON.stringify(value)],
      );
  }
}

function keysThatDiffer({ before, after }: ConfigChanges['rows']): string[] {
  return Object.keys(after).filter((name) => !isSameValue(before[name], after[name]));
}

/**
 * Whether revisions include the key. They include settings that affect how names are answered; rolling back rules must
 * not undo settings of sessions, the log or the cache.
 */
export function isPolicyKey(key: string): boolean {
  return /^(?:dns|blocking)\./u.test(key);
}

function withoutSecrets(values: Values): Values {
  const masked = Object.entries(values).map(([name, value]) => [name, isSecret(name) ? '***' : value]);
  return Object.fromEntries(masked) as Values;
}
