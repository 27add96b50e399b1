/** Effects of a change on each row, for revisions and for the audit log. */
import { TEXT_URL } from '../../../../../shared/policy/source-kind.ts';

/** A row by column names. */
export type Row = Readonly<Record<string, unknown>>;

/** A row before and after a change; null if it did not exist before or was deleted. */
export interface RowChange {
  /** Name of the table; empty if the change does not concern a policy table. */
  readonly table: string;
  readonly key: string;
  readonly before: Row | null;
  readonly after: Row | null;
}

/** A value before and after the change. */
export interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** A value of a column. */
export interface ColumnValue {
  readonly table: string;
  readonly field: string;
  readonly value: unknown;
}

export type ChangeKind = 'created' | 'changed' | 'deleted';

/** Names of the objects that rows refer to by id. */
export interface Names {
  readonly groups: ReadonlyMap<number, string>;
  readonly lists: ReadonlyMap<number, string>;
  readonly schedules: ReadonlyMap<number, string>;
}

/** Columns that mean nothing to users; only the raw view shows them. */
const HIDDEN = new Set(['id', 'created_at', 'updated_at', 'hostname_key']);
/** Hashes of contents: a change of them is shown as such. */
const CONTENT = new Set(['content_key', 'held_key']);
/** Columns that form the name of a row. */
const NAMING: Readonly<Record<string, readonly string[]>> = {
  groups: ['name'],
  clients: ['name', 'mac_address', 'ip_address', 'client_key'],
  managed_domains: ['domain'],
  regex_filters: ['pattern'],
  forward_zones: ['zone'],
  local_records: ['fqdn', 'record_type', 'value'],
  schedule_profiles: ['name'],
  client_subnets: ['cidr'],
  custom_services: ['name'],
  list_sources: ['name'],
  blocked_services: ['service_id', 'group_id'],
  group_schedules: ['group_id', 'profile_id'],
  safe_search_configs: ['engine', 'group_id'],
  list_source_groups: ['source_id', 'group_id'],
  schedule_slots: ['profile_id'],
  config_values: ['key'],
};

/** Tables whose rows are named only by the first naming column that has a value. */
const NAMED_BY_FIRST = new Set(['clients']);

export function kindOf({ before, after }: RowChange): ChangeKind {
  if (before === null) return 'created';
  return after === null ? 'deleted' : 'changed';
}

/** Name of a row after the change, or before it if the row was deleted. */
export function nameOf({ table, key, before, after }: RowChange, names: Names): string {
  const row = after ?? before ?? {};
  const parts = (NAMING[table] ?? [])
    .map((column) => referredTo(column, row[column], names) ?? formatChangedValue(row[column]))
    .filter((part) => part !== '');
  if (parts.length === 0) return key;
  return NAMED_BY_FIRST.has(table) ? parts[0]! : parts.join(' · ');
}

/** Values to show: the changed values, or all values of a new or deleted row. */
export function fieldsOf(change: RowChange): FieldChange[] {
  const { before, after, table } = change;
  const isWhole = kindOf(change) !== 'changed';
  const naming = NAMED_BY_FIRST.has(table) ? [] : (NAMING[table] ?? []);
  const isShown = (field: string): boolean => !isWhole || !(naming.includes(field) || CONTENT.has(field));
  return [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
    .filter((field) => !HIDDEN.has(field) && isShown(field))
    .map((field) => ({ field, before: before?.[field] ?? null, after: after?.[field] ?? null }))
    .filter(({ before: was, after: is }) => JSON.stringify(was) !== JSON.stringify(is))
    .filter(({ before: was, after: is }) => !isWhole || !isEmpty(was ?? is));
}

/** Name of the row that a column refers to by id; undefined if it has no name. */
export function referredTo(field: string, value: unknown, names: Names): string | undefined {
  if (typeof value !== 'number') return undefined;
  if (field === 'group_id') return names.groups.get(value);
  if (field === 'source_id') return names.lists.get(value);
  return field === 'profile_id' ? names.schedules.get(value) : undefined;
}

/** Whether a value is the URL of custom rules, which contains a random name instead of an address. */
export function isCustomRules({ table, field, value }: ColumnValue): boolean {
  return table === 'list_sources' && field === 'url' && String(value).startsWith(TEXT_URL);
}

/** Adds the names of deleted rows from the changes, because the API no longer lists these rows. */
export function namesWith(names: Names, changes: readonly RowChange[]): Names {
  const of = (table: string, known: ReadonlyMap<number, string>): ReadonlyMap<number, string> => {
    const changed = changes
      .filter((change) => change.table === table)
      .map(({ before, after }) => after ?? before ?? {})
      .map(({ id, name }) => [Number(id), formatChangedValue(name)] as const);
    return new Map([...changed, ...known]);
  };
  return {
    groups: of('groups', names.groups),
    lists: of('list_sources', names.lists),
    schedules: of('schedule_profiles', names.schedules),
  };
}

/**
 * Changed rows of an audit log entry: by table and key for policy changes; for any other change, one row without a
 * table.
 */
export function rowsOf(before: unknown, after: unknown): RowChange[] {
  const [was, is] = [rowOf(before), rowOf(after)];
  const keys = [...new Set([...Object.keys(was ?? {}), ...Object.keys(is ?? {})])];
  if (keys.length === 0) return [];
  if (!keys.every((key) => /^[a-z_]+ ./.test(key))) return [{ table: '', key: '', before: was, after: is }];
  return keys.map((name) => {
    const end = name.indexOf(' ');
    const [table, key] = [name.slice(0, end), name.slice(end + 1)];
    return { table, key, before: rowOf(was?.[name]), after: rowOf(is?.[name]) };
  });
}

/** Converts a value to a row; a scalar becomes a row with one column. */
export function rowOf(value: unknown): Row | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'object' && !Array.isArray(value) ? (value as Row) : { value };
}

/** A time of the API in the language of the page; an empty language is that of the browser. */
export function formatMoment(time: string, language: string): string {
  const style = { dateStyle: 'medium', timeStyle: 'medium' } as const;
  return new Intl.DateTimeFormat(language || undefined, style).format(new Date(time));
}

/** Formats a value without quotes; list items are separated by commas. */
export function formatChangedValue(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.map(formatChangedValue).join(', ') : JSON.stringify(value);
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}
