/**
 * Where the policy of a database stands: a change moves it in its transaction, so that a node knows at a glance, and for
 * certain, whether it answers by the newest. Triggers write the versions, and tell each of them by NOTIFY.
 */
import type { Queryable } from '../db/queryable.ts';

/** A version of each policy table, by its name in `table_versions`: another one for other rows. */
export type TableVersions = Readonly<Record<string, string>>;

/** The position. */
export interface PolicyPosition {
  /** The newest revision; 0 = before the first. */
  readonly revision: number;
  readonly versions: TableVersions;
  /** A number that whoever waits for all nodes raises, see `setMark()`. */
  readonly mark: number;
}

/** Channel on which each change of a version is told, see the migration. */
export const POSITION_CHANNEL = 'weir';

/** An expression of SQL: the position as JSON. */
export const POSITION = `json_build_object('revision', (SELECT coalesce(max(id), 0) FROM revisions),
  'versions', (SELECT json_object_agg(name, version) FROM table_versions),
  'mark', coalesce((SELECT value::bigint FROM meta WHERE key = 'position_mark'), 0))`;

/** Versions that policy does not read: who may ask the API, which catalog was fetched. */
const BESIDE_POLICY: ReadonlySet<string> = new Set(['access', 'service_catalog']);

/** Marks the position and tells it: who has reached the mark has all that was committed before. */
export async function setMark(database: Queryable): Promise<number> {
  const { rows } = await database.query<{ mark: number }>(
    `WITH marked AS (
       INSERT INTO meta (key, value) VALUES ('position_mark', '1')
       ON CONFLICT (key) DO UPDATE SET value = to_jsonb(meta.value::bigint + 1) RETURNING value::bigint AS mark)
     SELECT mark, pg_notify($1, 'mark') FROM marked`,
    [POSITION_CHANNEL],
  );
  return rows[0]!.mark;
}

/** Names of the versions that differ. */
export function differingVersions(one: TableVersions, other: TableVersions): string[] {
  return Object.keys(other).filter((name) => one[name] !== other[name]);
}

/** Whether the rows of policy are the same at both positions. */
export function haveSameRows(one: PolicyPosition, other: PolicyPosition): boolean {
  return differingVersions(one.versions, other.versions).every((name) => BESIDE_POLICY.has(name));
}
