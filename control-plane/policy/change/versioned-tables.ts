/** The tables that revisions include. Triggers record the earlier version of each changed row in `policy_changes`. */

/** A table whose changes are recorded in `policy_changes`. */
export interface NotedTable {
  readonly name: string;
  /** Key columns and their types, in the order of the trigger that records changes. */
  readonly key: readonly (readonly [column: string, type: 'integer' | 'text'])[];
}

const BY_ID = [['id', 'integer']] as const;

/** Tables that a rollback restores by deleting the changed rows and inserting their earlier versions, in this order. */
export const REINSERTED: readonly NotedTable[] = [
  {
    name: 'list_source_groups',
    key: [
      ['source_id', 'integer'],
      ['group_id', 'integer'],
    ],
  },
  ...[
    'managed_domains',
    'regex_filters',
    'forward_zones',
    'local_records',
    'schedule_profiles',
    'schedule_slots',
    'blocked_services',
    'client_subnets',
  ].map((name) => ({ name, key: BY_ID })),
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

/**
 * All versioned tables, in the order in which changed rows are shown. A rollback changes groups, list sources and
 * clients in place, because other rows refer to them, and because they have columns that users do not set. Clients are
 * last, so that thousands of changed clients do not hide changed rules beyond the limit.
 */
export const NOTED: readonly NotedTable[] = [
  { name: 'groups', key: BY_ID },
  { name: 'list_sources', key: BY_ID },
  ...REINSERTED,
  { name: 'clients', key: BY_ID },
];

/**
 * SQL condition that a row of the table has the recorded key `noted`, which consists of key columns separated by
 * spaces.
 */
export function hasKey({ name, key }: NotedTable, noted: string): string {
  return key
    .map(([column, type], index) => `${name}.${column} = split_part(${noted}, ' ', ${index + 1})::${type}`)
    .join(' AND ');
}
