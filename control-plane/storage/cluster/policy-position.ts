/**
 * Position of the policy in a database: each change advances it in the same transaction, so that a node can determine
 * reliably and quickly whether it has the newest policy. Triggers update the versions of changed tables and announce
 * each change with NOTIFY.
 */
import type { Queryable } from '../db/queryable.ts';
import { TABLES } from '../db/restored-tables.ts';

/** Version of each policy table, by its name in `table_versions`; it changes with the rows. */
export type TableVersions = Readonly<Record<string, string>>;

/** All names in `table_versions`. */
export const VERSIONED: readonly string[] = [
  ...['access', 'blocking_switch', 'client_settings', 'client_subnets', 'clients', 'config_values'],
  ...[
    'forward_zones',
    'grants',
    'groups',
    'list_copies',
    'list_sources',
    'local_records',
    'managed_domains',
    'regex_filters',
  ],
  ...['safe_search', 'schedules', 'service_catalog', 'services', 'unblock_requests', 'web_certificate'],
];

/** Position of the policy. */
export interface PolicyPosition {
  /** The newest revision; 0 = there is none yet. */
  readonly revision: number;
  readonly versions: TableVersions;
  /** A number that is increased to wait for all nodes, see `setMark()`; -1 if the stored value is not a number. */
  readonly mark: number;
  /** Identifies the tables, see `TABLES`. Differs after a restore, even if all other values are the same. */
  readonly tables: string | null;
}

/** NOTIFY channel for each change of a version, see the migration. */
export const POSITION_CHANNEL = 'weir';

const UNREADABLE = -1;
/** SQL of the mark in a value of `meta`; null if it is not a number, so that reading the position never fails. */
const markIn = (value: string): string =>
  `CASE WHEN ${value}::text ~ '^[0-9]{1,15}$' THEN ${value}::text::bigint END`;

/** SQL expression of the position as JSON. */
export const POSITION = `json_build_object('tables', ${TABLES}, 'revision', (SELECT coalesce(max(id), 0) FROM revisions),
  'versions', (SELECT coalesce(json_object_agg(name, version), '{}') FROM table_versions),
  'mark', coalesce((SELECT coalesce(${markIn('value')}, ${String(UNREADABLE)})
    FROM meta WHERE key = 'position_mark'), 0))`;

/** Versions that do not affect policy: API permissions, names of clients, the fetched catalog, requests of devices. */
const NOT_POLICY: ReadonlySet<string> = new Set([
  ...['access', 'client_settings', 'service_catalog', 'unblock_requests'],
]);

/**
 * Sets a new mark and announces it. A node that has reached it has applied all earlier commits. If the stored mark is
 * unreadable or was restored, the new mark is higher than all marks that nodes have reached.
 */
export async function setMark(database: Queryable): Promise<number> {
  const { rows } = await database.query<{ mark: number }>(
    `WITH marked AS (
       INSERT INTO meta (key, value) VALUES ('position_mark', '1')
       ON CONFLICT (key) DO UPDATE SET value = to_jsonb(1 +
         greatest(coalesce(${markIn('meta.value')}, 0), (SELECT max(policy_mark) FROM nodes)))
       RETURNING value::bigint AS mark)
     SELECT mark, pg_notify($1, 'mark') FROM marked`,
    [POSITION_CHANNEL],
  );
  return rows[0]!.mark;
}

/** Whether a position may follow an earlier one of the same database, in which the mark never decreases. */
export function mayFollow(one: PolicyPosition, earlier: PolicyPosition): boolean {
  return one.mark >= earlier.mark && one.tables === earlier.tables;
}

/** Names of the versions that differ. */
export function differingVersions(one: TableVersions, other: TableVersions): string[] {
  return Object.keys(other).filter((name) => one[name] !== other[name]);
}

/** Whether the policy rows are the same at both positions. Without a table's version, the revisions decide. */
export function haveSameRows(one: PolicyPosition, other: PolicyPosition): boolean {
  if (unversioned(other).length > 0 && one.revision !== other.revision) return false;
  return differingVersions(one.versions, other.versions).every((name) => NOT_POLICY.has(name));
}

/** Description of errors in a position, for users; empty = no errors. */
export function faultOf(position: PolicyPosition): string {
  const faults = unversioned(position).map((name) => `"table_versions" has no row "${name}"`);
  if (position.mark === UNREADABLE) faults.push('"position_mark" in "meta" is not a number');
  return faults.join(', ');
}

function unversioned({ versions }: PolicyPosition): string[] {
  return VERSIONED.filter((name) => versions[name] === undefined);
}
