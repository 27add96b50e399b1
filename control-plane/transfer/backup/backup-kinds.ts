/**
 * Contents of a backup: for each kind, the names by which users know its objects, and the SQL that reads, stores and
 * deletes them. The statements take the objects as JSON in `$1`.
 */
import { ACCESS_KINDS } from './access-kinds.ts';
import { type BackupKind, items } from './backup-kind.ts';
import { configuration } from './configuration-items.ts';
import { sources } from './source-items.ts';

const WITH_GROUP = 'JOIN groups g ON g.name = v."group"';
const OF_GROUP = 'LEFT JOIN groups g ON g.id = t.group_id';

const CLIENT = items(
  'ip_address inet, mac_address macaddr, client_key text, name text, "group" text, exclude_from_log boolean, exclude_from_stats boolean, device text',
);
const HAS_KEY_ONLY = (row: string): string => `${row}.mac_address IS NULL AND ${row}.ip_address IS NULL`;
const IS_CLIENT = `(t.mac_address = v.mac_address OR t.mac_address IS NULL AND t.ip_address = v.ip_address
  OR ${HAS_KEY_ONLY('t')} AND ${HAS_KEY_ONLY('v')} AND t.client_key = v.client_key)`;
const putClients = (where: string, key: string): string =>
  `INSERT INTO clients (ip_address, mac_address, client_key, name, group_id, exclude_from_log, exclude_from_stats)
   SELECT v.ip_address, v.mac_address, v.client_key, v.name, g.id, coalesce(v.exclude_from_log, false),
     coalesce(v.exclude_from_stats, false) FROM ${CLIENT} LEFT ${WITH_GROUP} WHERE ${where}
   ON CONFLICT ${key} DO UPDATE SET client_key = excluded.client_key, name = excluded.name,
     group_id = excluded.group_id, exclude_from_log = excluded.exclude_from_log,
     exclude_from_stats = excluded.exclude_from_stats, device_id = NULL`;

/** The identifier of a client, as text. */
const knownBy = (row: string): string =>
  `coalesce(${row}.mac_address::text, host(${row}.ip_address), ${row}.client_key)`;
/** Condition that is always true, for statements that do not need `$1`: each statement must use its parameter. */
const TAKES_ITEMS = '$1::jsonb IS NOT NULL';
/** Merges clients into others; no client is both a part and a main client. */
const MERGE_CLIENTS = [
  `UPDATE clients t SET device_id = main.id FROM ${CLIENT} JOIN clients main ON ${knownBy('main')} = v.device
    WHERE ${IS_CLIENT} AND main.id <> t.id`,
  `UPDATE clients t SET device_id = NULL FROM clients main
    WHERE t.device_id = main.id AND main.device_id <> main.id AND ${TAKES_ITEMS}`,
  `UPDATE clients t SET device_id = id WHERE device_id IS NULL AND ${TAKES_ITEMS}
    AND EXISTS (SELECT FROM clients part WHERE part.device_id = t.id)`,
  `UPDATE clients t SET device_id = NULL WHERE device_id = id AND ${TAKES_ITEMS}
    AND NOT EXISTS (SELECT FROM clients part WHERE part.device_id = t.id AND part.id <> t.id)`,
];

const clients: BackupKind = {
  name: 'clients',
  key: ['mac_address', 'ip_address', 'client_key'],
  isKnownByFirst: true,
  // The address of a client that is identified by its MAC is only its last known address, so a backup does not contain
  // it.
  read: `SELECT CASE WHEN t.mac_address IS NULL THEN host(t.ip_address) END AS ip_address,
      t.mac_address::text AS mac_address, t.client_key, t.name, g.name AS "group", t.exclude_from_log, t.exclude_from_stats,
      (SELECT ${knownBy('main')} FROM clients main WHERE main.id = t.device_id AND main.id <> t.id) AS device
    FROM clients t ${OF_GROUP} WHERE num_nonnulls(t.name, t.group_id, t.client_key, t.device_id) > 0
      OR t.exclude_from_log OR t.exclude_from_stats
    ORDER BY t.mac_address, t.ip_address, t.client_key`,
  put: [
    // A key may move from one client to another.
    `UPDATE clients t SET client_key = NULL FROM ${CLIENT} WHERE t.client_key IS NOT NULL AND ${IS_CLIENT} AND NOT (${HAS_KEY_ONLY('t')})`,
    putClients('v.mac_address IS NOT NULL', '(mac_address)'),
    putClients(
      'v.mac_address IS NULL AND v.ip_address IS NOT NULL',
      '(ip_address) WHERE mac_address IS NULL',
    ),
    putClients(HAS_KEY_ONLY('v'), '(client_key)'),
    ...MERGE_CLIENTS,
  ],
  // Clients that were seen on the network are kept without their settings.
  remove: [
    // Parts of deleted clients are not deleted.
    `UPDATE clients part SET device_id = NULL FROM ${CLIENT}, clients t
       WHERE ${IS_CLIENT} AND t.id IN (part.id, part.device_id)`,
    `DELETE FROM clients t USING ${CLIENT} WHERE ${IS_CLIENT} AND (t.last_seen IS NULL OR ${HAS_KEY_ONLY('t')})`,
    `UPDATE clients t SET name = NULL, group_id = NULL, client_key = NULL,
       exclude_from_log = false, exclude_from_stats = false FROM ${CLIENT} WHERE ${IS_CLIENT}`,
  ],
};

const SUBNET = items('subnet_cidr cidr, comment text, "group" text');
const subnets: BackupKind = {
  name: 'client_subnets',
  key: ['subnet_cidr'],
  read: `SELECT t.cidr::text AS subnet_cidr, t.comment, g.name AS "group" FROM client_subnets t ${OF_GROUP} ORDER BY t.cidr`,
  put: [
    `INSERT INTO client_subnets (cidr, group_id, comment) SELECT v.subnet_cidr, g.id, v.comment FROM ${SUBNET} ${WITH_GROUP}
     ON CONFLICT (cidr) DO UPDATE SET group_id = excluded.group_id, comment = excluded.comment`,
  ],
  remove: [`DELETE FROM client_subnets t USING ${SUBNET} WHERE t.cidr = v.subnet_cidr`],
};

function rules(name: 'managed_domains' | 'regex_filters', matches: 'domain' | 'pattern'): BackupKind {
  const rule = items(`name text, ${matches} text, action text, "group" text, comment text, enabled boolean`);
  const key = matches === 'domain' ? 'domain' : 'md5(pattern)';
  return {
    name,
    key: [matches, 'action', 'group'],
    read: `SELECT t.name, t.${matches}, t.action, g.name AS "group", t.comment, t.enabled FROM ${name} t ${OF_GROUP}
      ORDER BY t.${matches}, t.action, g.name`,
    put: [
      `INSERT INTO ${name} (name, ${matches}, action, group_id, comment, enabled)
       SELECT v.name, v.${matches}, v.action, g.id, v.comment, v.enabled FROM ${rule} LEFT ${WITH_GROUP}
       ON CONFLICT (${key}, action, coalesce(group_id, 0)) DO UPDATE
         SET name = excluded.name, comment = excluded.comment, enabled = excluded.enabled, updated_at = now()`,
    ],
    remove: [
      `DELETE FROM ${name} t USING ${rule} LEFT ${WITH_GROUP}
       WHERE t.${matches} = v.${matches} AND t.action = v.action AND t.group_id IS NOT DISTINCT FROM g.id`,
    ],
  };
}

const SERVICE = items('service_id text, name text, category text, domains text[]');
const customServices: BackupKind = {
  name: 'custom_services',
  key: ['service_id'],
  read: 'SELECT service_id, name, category, domains FROM custom_services ORDER BY service_id',
  put: [
    `INSERT INTO custom_services (service_id, name, category, domains)
     SELECT v.service_id, v.name, v.category, v.domains FROM ${SERVICE}
     ON CONFLICT (service_id) DO UPDATE SET name = excluded.name, category = excluded.category,
       domains = excluded.domains, updated_at = now()`,
  ],
  remove: [`DELETE FROM custom_services t USING ${SERVICE} WHERE t.service_id = v.service_id`],
};

const BLOCK = items('service_id text, "group" text, profile text');
const blockedServices: BackupKind = {
  name: 'blocked_services',
  key: ['service_id', 'group'],
  read: `SELECT t.service_id, g.name AS "group", p.name AS profile FROM blocked_services t ${OF_GROUP}
    LEFT JOIN schedule_profiles p ON p.id = t.profile_id ORDER BY t.service_id, g.name`,
  put: [
    `INSERT INTO blocked_services (service_id, group_id, profile_id)
     SELECT v.service_id, g.id, p.id FROM ${BLOCK} ${WITH_GROUP} LEFT JOIN schedule_profiles p ON p.name = v.profile
     ON CONFLICT (service_id, group_id) DO UPDATE SET profile_id = excluded.profile_id`,
  ],
  remove: [
    `DELETE FROM blocked_services t USING ${BLOCK} ${WITH_GROUP} WHERE t.service_id = v.service_id AND t.group_id = g.id`,
  ],
};

const ENGINE = items('"group" text, engine text, enabled boolean, youtube_mode text');
const safeSearch: BackupKind = {
  name: 'safe_search',
  key: ['group', 'engine'],
  read: `SELECT g.name AS "group", t.engine, t.enabled, t.youtube_mode FROM safe_search_configs t ${OF_GROUP} ORDER BY g.name, t.engine`,
  put: [
    `INSERT INTO safe_search_configs (group_id, engine, enabled, youtube_mode)
     SELECT g.id, v.engine, v.enabled, v.youtube_mode FROM ${ENGINE} ${WITH_GROUP}
     ON CONFLICT (group_id, engine) DO UPDATE SET enabled = excluded.enabled, youtube_mode = excluded.youtube_mode`,
  ],
  remove: [
    `DELETE FROM safe_search_configs t USING ${ENGINE} ${WITH_GROUP} WHERE t.group_id = g.id AND t.engine = v.engine`,
  ],
};

const PROFILE = items('name text, timezone text, comment text, days_off jsonb, slots jsonb');
const IS_PROFILE = 'lower(p.name) = lower(v.name)';
const profiles: BackupKind = {
  name: 'schedule_profiles',
  key: ['name'],
  isFolded: true,
  read: `SELECT p.name, p.timezone, p.comment, p.days_off, coalesce((SELECT jsonb_agg(jsonb_build_object('days', s.days,
      'start_time', s.start_minute, 'end_time', s.end_minute, 'action', s.action,
      'skips_days_off', s.skips_days_off) ORDER BY s.id)
      FROM schedule_slots s WHERE s.profile_id = p.id), '[]') AS slots
    FROM schedule_profiles p ORDER BY lower(p.name)`,
  put: [
    `INSERT INTO schedule_profiles (name, timezone, comment, days_off)
     SELECT v.name, v.timezone, v.comment, v.days_off FROM ${PROFILE}
     ON CONFLICT (lower(name)) DO UPDATE SET name = excluded.name, timezone = excluded.timezone,
       comment = excluded.comment, days_off = excluded.days_off, updated_at = now()`,
    `DELETE FROM schedule_slots s USING schedule_profiles p, ${PROFILE} WHERE s.profile_id = p.id AND ${IS_PROFILE}`,
    `INSERT INTO schedule_slots (profile_id, days, start_minute, end_minute, action, skips_days_off)
     SELECT p.id, s.days, s.start_time, s.end_time, s.action, s.skips_days_off FROM ${PROFILE} JOIN schedule_profiles p ON ${IS_PROFILE}
     CROSS JOIN jsonb_to_recordset(v.slots) AS s(days smallint, start_time smallint, end_time smallint, action text,
       skips_days_off boolean)`,
  ],
  remove: [`DELETE FROM schedule_profiles p USING ${PROFILE} WHERE ${IS_PROFILE}`],
};

const ASSIGNMENT = items('"group" text, profile text');
const groupSchedules: BackupKind = {
  name: 'group_schedules',
  key: ['group'],
  read: `SELECT g.name AS "group", p.name AS profile FROM group_schedules t ${OF_GROUP}
    JOIN schedule_profiles p ON p.id = t.profile_id ORDER BY g.name`,
  put: [
    `INSERT INTO group_schedules (group_id, profile_id)
     SELECT g.id, p.id FROM ${ASSIGNMENT} ${WITH_GROUP} JOIN schedule_profiles p ON p.name = v.profile
     ON CONFLICT (group_id) DO UPDATE SET profile_id = excluded.profile_id, created_at = now()`,
  ],
  remove: [`DELETE FROM group_schedules t USING ${ASSIGNMENT} ${WITH_GROUP} WHERE t.group_id = g.id`],
};

const RECORD = items(
  'hostname text, domain text, fqdn text, record_type text, value text, ttl integer, comment text',
);
const localRecords: BackupKind = {
  name: 'local_records',
  key: ['fqdn', 'record_type', 'value'],
  read: 'SELECT hostname, domain, fqdn, record_type, value, ttl, comment FROM local_records ORDER BY id',
  put: [
    `INSERT INTO local_records (hostname, domain, fqdn, record_type, value, ttl, comment)
     SELECT v.hostname, v.domain, v.fqdn, v.record_type, v.value, v.ttl, v.comment FROM ${RECORD}
     ON CONFLICT (fqdn, record_type, md5(value)) DO UPDATE SET hostname = excluded.hostname,
       domain = excluded.domain, ttl = excluded.ttl, comment = excluded.comment, updated_at = now()`,
  ],
  remove: [
    `DELETE FROM local_records t USING ${RECORD}
     WHERE t.fqdn = v.fqdn AND t.record_type = v.record_type AND t.value = v.value`,
  ],
};

const ZONE = items('zone text, servers text[], comment text, enabled boolean');
const forwardZones: BackupKind = {
  name: 'forward_zones',
  key: ['zone'],
  read: 'SELECT zone, servers, comment, enabled FROM forward_zones ORDER BY zone',
  put: [
    `INSERT INTO forward_zones (zone, servers, comment, enabled) SELECT v.zone, v.servers, v.comment, v.enabled FROM ${ZONE}
     ON CONFLICT (zone) DO UPDATE SET servers = excluded.servers, comment = excluded.comment,
       enabled = excluded.enabled, updated_at = now()`,
  ],
  remove: [`DELETE FROM forward_zones t USING ${ZONE} WHERE t.zone = v.zone`],
};

const GROUP = items('name text, enabled boolean, comment text, no_ipv6 boolean, is_default boolean');
const groups: BackupKind = {
  name: 'groups',
  key: ['name'],
  isFolded: true,
  read: 'SELECT name, enabled, comment, no_ipv6, id = 1 AS is_default FROM groups ORDER BY id <> 1, lower(name)',
  put: [
    `UPDATE groups g SET name = v.name, comment = v.comment, no_ipv6 = v.no_ipv6, updated_at = now() FROM ${GROUP}
     WHERE v.is_default AND g.id = 1`,
    `INSERT INTO groups (name, enabled, comment, no_ipv6) SELECT v.name, v.enabled, v.comment, v.no_ipv6 FROM ${GROUP}
     WHERE NOT v.is_default
     ON CONFLICT (lower(name)) DO UPDATE SET name = excluded.name, enabled = excluded.enabled,
       comment = excluded.comment, no_ipv6 = excluded.no_ipv6, updated_at = now()`,
  ],
  // Renames the groups, so that new groups can have their names; `store-changes.ts` deletes the groups when nothing
  // refers to them any more.
  remove: [
    `UPDATE groups g SET name = 'removed ' || gen_random_uuid() FROM ${GROUP} WHERE g.name = v.name AND g.id <> 1`,
  ],
};

/** All kinds; a kind comes before the kinds that refer to it. A new kind of user settings is a row of this table. */
export const KINDS: readonly BackupKind[] = [
  groups,
  clients,
  subnets,
  sources,
  rules('managed_domains', 'domain'),
  rules('regex_filters', 'pattern'),
  customServices,
  safeSearch,
  profiles,
  blockedServices,
  groupSchedules,
  localRecords,
  forwardZones,
  configuration,
  ...ACCESS_KINDS,
];
