/**
 * SQL that reads all policy rows, and the rows of the configuration, in one statement, so that all rows are from the
 * same consistent state.
 */
import { type SourceKind, TEXT_URL } from '../../../shared/policy/source-kind.ts';
import { Exclusion } from '../../../shared/query-log.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import type { BlockingSwitch, PolicyRows } from './rows.ts';
import {
  type FindService,
  type KeptRows,
  type ManagedChanges,
  PolicyMemory,
  resolveGrants,
} from './policy-memory.ts';
import { type PolicyPosition, POSITION } from '../../storage/cluster/policy-position.ts';

/** Clients (`c`), each with the client of the same device whose name, group and exclusions apply (`main`). */
const CLIENTS = 'clients c JOIN clients main ON main.id = coalesce(c.device_id, c.id)';

const pairs = (value: string, table: string): string =>
  `SELECT coalesce(string_agg(${value} || ' ' || group_id, ','), '') FROM ${table}`;
const clientPairs = (value: string): string =>
  `SELECT coalesce(string_agg(${value} || ' ' || main.group_id, ','), '') FROM ${CLIENTS} WHERE main.group_id IS NOT NULL`;

/** SQL expressions for columns of pairs, such as `address group`, separated by commas. */
const CLIENT_PAIRS = {
  clients: `${clientPairs('host(c.ip_address)')} AND c.mac_address IS NULL AND c.ip_address IS NOT NULL`,
  macClients: `${clientPairs('c.mac_address::text')} AND c.mac_address IS NOT NULL`,
  subnets: pairs('cidr::text', 'client_subnets'),
} as const;

/** Parses the pairs in such a text; null for null. */
function readPairs<Row>(text: string | null, make: (value: string, groupId: number) => Row): Row[] | null {
  if (text === null) return null;
  if (text === '') return [];
  return text.split(',').map((pair) => {
    const space = pair.indexOf(' ');
    return make(pair.slice(0, space), Number(pair.slice(space + 1)));
  });
}

type PairColumn = keyof typeof CLIENT_PAIRS;
type JsonColumn = Exclude<keyof KeptRows, PairColumn>;

/** The result of the statement; a column that is null is unchanged. */
type Row = { readonly [Name in JsonColumn]: KeptRows[Name] | null } & {
  readonly [Name in PairColumn]: string | null;
} & {
  readonly position: PolicyPosition;
  readonly blockingSwitch: BlockingSwitch | null;
  readonly accessGraceEndMs: number | null;
  readonly config: Readonly<Record<string, unknown>>;
  readonly lists: readonly WantedList[];
  readonly managedChanges: ManagedChanges | null;
  readonly tip: string | null;
};

/** SQL of the slots of profile `p` as JSON. */
const SLOTS = `(SELECT coalesce(json_agg(json_build_object('days', days, 'start', start_minute, 'end', end_minute,
  'action', action, 'skipsDaysOff', skips_days_off) ORDER BY id), '[]') FROM schedule_slots s WHERE s.profile_id = p.id)`;

/** SQL of the `Exclusion` bits of a client. */
const EXCLUSION = `(${String(Exclusion.LOG)} * main.exclude_from_log::integer + ${String(Exclusion.STATS)} * main.exclude_from_stats::integer)`;

/** SQL of a managed domain as JSON. */
const MANAGED_DOMAIN = `json_build_object('id', id, 'name', name,
  'domain', CASE WHEN starts_with(domain, '*.') THEN substr(domain, 3) ELSE domain END,
  'suffix', starts_with(domain, '*.'), 'action', action, 'groupId', group_id)`;

/**
 * SQL of a position in the log of changed rows. It identifies a row of the log uniquely: after a failover to a server
 * that lacked the row, or after a restore, another row may have the same number, but not the same position. The
 * position includes the file of the table, because truncating a table changes its file without recording changes.
 */
const PLACE = `concat_ws(' ', seq, policy_changes.xmin, table_name, key, pg_relation_filenode('managed_domains'))`;
/** `$2` is the known position. If the log still contains it, it also contains all later changes. */
const KNOWN_SEQ = `nullif(split_part($2, ' ', 1), '')::bigint`;
const IS_KNOWN = `EXISTS (SELECT FROM policy_changes WHERE seq = ${KNOWN_SEQ} AND ${PLACE} = $2)`;
/**
 * Number of earlier changes to read again, because changes that were made outside the API may be committed in another
 * order than their numbers.
 */
const REREAD = 100;
const MANAGED_CHANGES = `(SELECT json_build_object('ids', coalesce(json_agg(changed.id), '[]'),
    'rows', coalesce(json_agg(m.row) FILTER (WHERE m.row IS NOT NULL), '[]'))
  FROM (SELECT DISTINCT key::integer AS id FROM policy_changes
      WHERE table_name = 'managed_domains' AND seq > ${KNOWN_SEQ} - ${String(REREAD)}) changed
    LEFT JOIN LATERAL (SELECT ${MANAGED_DOMAIN} AS row FROM managed_domains
      WHERE managed_domains.id = changed.id AND enabled) m ON true)`;

/** By column: the name of its table in `table_versions`, and the SQL that reads the column. */
const KEPT: Readonly<Record<keyof KeptRows, readonly [version: string, select: string]>> = {
  groups: [
    'groups',
    `SELECT coalesce(json_agg(json_build_object('id', id, 'enabled', enabled, 'noIpv6', no_ipv6) ORDER BY id), '[]') FROM groups`,
  ],
  sources: [
    'list_sources',
    `SELECT coalesce(json_agg(json_build_object('id', s.id, 'name', s.name, 'kind', s.kind, 'enabled', s.enabled,
         'groupIds', (SELECT coalesce(json_agg(g.group_id ORDER BY g.group_id), '[]')
            FROM list_source_groups g WHERE g.source_id = s.id)) ORDER BY s.id), '[]') FROM list_sources s`,
  ],
  managedDomains: [
    'managed_domains',
    `SELECT coalesce(json_agg(${MANAGED_DOMAIN} ORDER BY id), '[]') FROM managed_domains WHERE enabled`,
  ],
  regexFilters: [
    'regex_filters',
    `SELECT coalesce(json_agg(json_build_object('id', id, 'name', name, 'pattern', pattern, 'action', action,
         'groupId', group_id) ORDER BY id), '[]') FROM regex_filters WHERE enabled`,
  ],
  services: [
    'services',
    `SELECT coalesce(json_agg(json_build_object('serviceId', b.service_id, 'groupId', b.group_id,
         'name', c.name, 'domains', c.domains,
         'times', CASE WHEN p.id IS NOT NULL THEN json_build_object('timezone', p.timezone, 'slots', ${SLOTS},
           'daysOff', p.days_off) END)
         ORDER BY b.id), '[]')
       FROM blocked_services b LEFT JOIN custom_services c USING (service_id)
         LEFT JOIN schedule_profiles p ON p.id = b.profile_id`,
  ],
  forwardZones: [
    'forward_zones',
    `SELECT coalesce(json_agg(json_build_object('zone', zone, 'servers', servers) ORDER BY id), '[]')
       FROM forward_zones WHERE enabled`,
  ],
  localRecords: [
    'local_records',
    `SELECT coalesce(json_agg(json_build_object('id', id, 'fqdn', fqdn, 'domain', domain, 'type', record_type,
         'value', value, 'ttlSecs', ttl) ORDER BY id), '[]') FROM local_records`,
  ],
  schedules: [
    'schedules',
    `SELECT coalesce(json_agg(json_build_object('groupId', g.group_id, 'profile', p.name, 'timezone', p.timezone,
         'slots', ${SLOTS}, 'daysOff', p.days_off) ORDER BY g.group_id), '[]')
       FROM group_schedules g JOIN schedule_profiles p ON p.id = g.profile_id`,
  ],
  safeSearch: [
    'safe_search',
    `SELECT coalesce(json_agg(json_build_object('groupId', group_id, 'engine', engine, 'youtubeMode', youtube_mode)
         ORDER BY group_id, engine), '[]') FROM safe_search_configs WHERE enabled`,
  ],
  grants: [
    'grants',
    `SELECT coalesce(json_agg(jsonb_build_object('id', g.id,
         'domain', CASE WHEN g.service_id IS NULL THEN g.domain END,
         'subdomains', g.subdomains OR g.service_id IS NOT NULL, 'action', g.action,
         'groupId', g.group_id, 'clientId', coalesce(c.id, g.client_id), 'mac', c.mac_address::text,
         'address', CASE WHEN c.mac_address IS NULL THEN host(c.ip_address) END,
         'untilMs', round(extract(epoch FROM g.until) * 1000),
         'createdMs', round(extract(epoch FROM g.created_at) * 1000))
         || CASE WHEN g.service_id IS NULL THEN '{}' ELSE jsonb_build_object('serviceId', g.service_id) END
         || CASE WHEN s.name IS NULL THEN '{}' ELSE jsonb_build_object('service',
           jsonb_build_object('serviceName', s.name, 'domains', s.domains, 'exact', '[]'::jsonb)) END
         ORDER BY g.id, c.id), '[]')
       FROM grants g LEFT JOIN custom_services s USING (service_id) LEFT JOIN clients own ON own.id = g.client_id
         LEFT JOIN clients c ON c.id = own.id OR c.device_id = own.device_id`,
  ],
  clients: ['clients', CLIENT_PAIRS.clients],
  macClients: ['clients', CLIENT_PAIRS.macClients],
  keyedClients: [
    'clients',
    `SELECT coalesce(json_agg(json_build_object('clientId', c.id, 'key', c.client_key, 'groupId', main.group_id,
         'name', main.name, 'mac', c.mac_address::text, 'exclusion', ${EXCLUSION}) ORDER BY c.id), '[]')
       FROM ${CLIENTS} WHERE c.client_key IS NOT NULL`,
  ],
  excludedClients: [
    'clients',
    `SELECT coalesce(json_agg(json_build_object('mac', c.mac_address::text,
         'address', CASE WHEN c.mac_address IS NULL THEN host(c.ip_address) END, 'exclusion', ${EXCLUSION})
         ORDER BY c.id), '[]')
       FROM ${CLIENTS} WHERE ${EXCLUSION} > 0 AND (c.mac_address IS NOT NULL OR c.ip_address IS NOT NULL)`,
  ],
  subnets: ['client_subnets', CLIENT_PAIRS.subnets],
};

/** SQL condition that a table has not changed; `$1` contains the known versions by name. */
const isUnchanged = (version: string): string =>
  `(SELECT version::text FROM table_versions WHERE name = '${version}') IS NOT DISTINCT FROM $1::jsonb ->> '${version}'`;
const keptColumn = ([name, [version, select]]: [string, readonly [string, string]]): string => {
  const isKept =
    name === 'managedDomains' ? `(${isUnchanged(version)} OR ${IS_KNOWN})` : isUnchanged(version);
  return `CASE WHEN ${isKept} THEN NULL ELSE (${select}) END AS "${name}"`;
};

const QUERY = `SELECT ${POSITION} AS position,
  (SELECT ${PLACE} FROM policy_changes ORDER BY seq DESC LIMIT 1) AS tip,
  CASE WHEN NOT (${isUnchanged('managed_domains')}) AND ${IS_KNOWN} THEN ${MANAGED_CHANGES} END AS "managedChanges",
  ${Object.entries(KEPT).map(keptColumn).join(',\n  ')},
  (SELECT json_build_object('enabled', enabled,
          'until', to_char(until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'before', "before")
     FROM blocking_switch) AS "blockingSwitch",
  (SELECT round(extract(epoch FROM ends_at) * 1000)::float8 FROM access_grace) AS "accessGraceEndMs",
  (SELECT coalesce(json_agg(json_build_object('id', id, 'contentKey', content_key, 'kind', kind,
          'subdomains', subdomains, 'isCustom', starts_with(url, '${TEXT_URL}'))), '[]')
     FROM list_sources s WHERE enabled
       AND EXISTS (SELECT FROM blobs WHERE blobs.content_key = s.content_key AND part = 0)) AS lists,
  (SELECT coalesce(json_object_agg(key, value), '{}') FROM config_values) AS config`;

/** A list that should be active, with the content key by which nodes find it. */
export interface WantedList {
  /** `list_sources.id`. */
  readonly id: number;
  readonly contentKey: string;
  readonly kind: SourceKind;
  readonly subdomains: boolean;
  /** See `ListReading`. */
  readonly isCustom?: boolean;
}

/** The stored policy. */
export interface StoredPolicy {
  readonly rows: PolicyRows;
  /** Values of the cluster's configuration, by key. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly lists: readonly WantedList[];
  /** Position in the history of policy at which these rows were read. */
  readonly position: PolicyPosition;
}

/** The policy rows alone, as read by `readPolicy()`. */
export async function readPolicyRows(
  db: Queryable,
  findService: FindService,
  memory?: PolicyMemory,
): Promise<PolicyRows> {
  return (await readPolicy(db, findService, memory)).rows;
}

/**
 * All rows; `findService` finds built-in services, `memory` caches rows that were read before. @throws
 * {DatabaseUnavailable} during a restore
 */
export async function readPolicy(
  db: Queryable,
  findService: FindService,
  memory = new PolicyMemory(),
): Promise<StoredPolicy> {
  const { rows } = await db.query<Row>(QUERY, [JSON.stringify(memory.versions()), memory.tip()]);
  if (rows[0]!.position.tables === null)
    throw new DatabaseUnavailable('could not read policy: a restore is not complete');
  const { position, blockingSwitch, accessGraceEndMs, config, lists, clients, macClients, subnets, ...read } =
    rows[0]!;
  const { tip, managedChanges: changes, ...others } = read;
  const { services, grants, ...kept } = memory.take(
    position.versions,
    {
      ...others,
      clients: readPairs(clients, (address, groupId) => ({ address, groupId })),
      macClients: readPairs(macClients, (mac, groupId) => ({ mac, groupId })),
      subnets: readPairs(subnets, (cidr, groupId) => ({ cidr, groupId })),
    },
    { tip: tip ?? '', changes },
  );
  const blockedServices = memory.resolve(services, findService);
  const withServices = resolveGrants(grants, findService);
  return {
    rows: { ...kept, grants: withServices, blockedServices, blockingSwitch, accessGraceEndMs },
    config,
    lists,
    position,
  };
}
