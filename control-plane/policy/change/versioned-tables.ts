/** The tables in revisions. Changed rows of all are noted in `policy_changes`; some are copied, too. */

/** A table whose changes are noted in `policy_changes`. */
export interface NotedTable {
  readonly name: string;
  /** Its key columns and their types, as the trigger that notes them has them. */
  readonly key: readonly (readonly [column: string, type: 'integer' | 'text'])[];
}

/** Those that a rollback restores row by row; those that others refer to come first. */
export const NOTED: readonly NotedTable[] = [
  ...[
    'managed_domains',
    'regex_filters',
    'forward_zones',
    'local_records',
    'schedule_profiles',
    'schedule_slots',
    'blocked_services',
    'client_subnets',
  ].map((name) => ({ name, key: [['id', 'integer'] as const] })),
  { name: 'config_values', key: [['key', 'text']] },
  { name: 'custom_services', key: [['service_id', 'text']] },
  { name: 'group_schedules', key: [['group_id', 'integer']] },
  {
    name: 'safe_search_configs',
    key: [
      ['group_id', 'integer'],
      ['engine', 'text'],
    ],
  },
];

/** Those that a revision holds a copy of, as a rollback restores them in a way of its own. */
export const COPIED: readonly NotedTable[] = [
  { name: 'groups', key: [['id', 'integer']] },
  { name: 'list_sources', key: [['id', 'integer']] },
  {
    name: 'list_source_groups',
    key: [
      ['source_id', 'integer'],
      ['group_id', 'integer'],
    ],
  },
];

/** SQL of whether a row of the table has the key that is noted as `noted`: blanks stand between its columns. */
export function hasKey({ name, key }: NotedTable, noted: string): string {
  return key
    .map(([column, type], index) => `${name}.${column} = split_part(${noted}, ' ', ${index + 1})::${type}`)
    .join(' AND ');
}
