/**
 * SQL that makes the policy tables what they were after a revision, inside one transaction.
 *
 * Rules, services, schedules, client subnets and list sources become exactly those of the revision. Groups of
 * the revision come back as they were, but groups made since stay: clients may belong to them, and a rollback of rules must not move
 * clients. They are left without rules of their own. What is known of a list's server stays as it is, so a
 * list whose newer copy is undone does not come back with the next fetch of that copy: it is held.
 */
import { conflict } from '../api-error.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../db/database-errors.ts';
import type { Queryable } from '../db/database.ts';

const rowsOf = (name: string): string =>
  `jsonb_populate_recordset(NULL::${name}, (SELECT policy -> '${name}' FROM revisions WHERE id = $1))`;

/** Rows of a table that says when it changes. */
const copiedRowsOf = (name: string): string =>
  `json_populate_recordset(NULL::${name}, (SELECT c.rows FROM revisions r JOIN table_copies c
     ON c.name = '${name}' AND c.version::text = r.table_versions ->> c.name WHERE r.id = $1))`;

const CLEARED = [
  'list_source_groups',
  'managed_domains',
  'regex_filters',
  'blocked_services',
  'custom_services',
  'forward_zones',
  'local_records',
  'group_schedules',
  'schedule_slots',
  'schedule_profiles',
  'client_subnets',
  'dns_settings',
  'safe_search_configs',
];

const RESTORE_GROUPS = `INSERT INTO groups (id, name, enabled, comment, created_at, updated_at)
  SELECT id, name, enabled, comment, created_at, updated_at FROM ${rowsOf('groups')}
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, enabled = excluded.enabled, comment = excluded.comment,
    updated_at = excluded.updated_at`;

const DELETE_NEW_SOURCES = `DELETE FROM list_sources WHERE id NOT IN (SELECT id FROM ${rowsOf('list_sources')})`;

/** The list had changed since. */
const IS_UNDONE = 'list_sources.url = excluded.url AND list_sources.content_key <> excluded.content_key';

/** A source that was deleted since is fetched anew: nothing of its server's answers is kept. */
const RESTORE_SOURCES = `INSERT INTO list_sources
    (id, kind, name, url, enabled, comment, subdomains, format, status, rules, invalid_lines, bytes,
     last_changed_at, content_key, created_at, updated_at)
  SELECT id, kind, name, url, enabled, comment, subdomains, format,
    CASE WHEN content_key IS NULL THEN 'pending' ELSE 'ok' END, rules, invalid_lines, bytes,
    last_changed_at, content_key, created_at, updated_at FROM ${rowsOf('list_sources')}
  ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, name = excluded.name, url = excluded.url,
    enabled = excluded.enabled, comment = excluded.comment, subdomains = excluded.subdomains,
    content_key = coalesce(excluded.content_key, list_sources.content_key),
    rules = excluded.rules, invalid_lines = excluded.invalid_lines, format = excluded.format,
    etag = CASE WHEN list_sources.url <> excluded.url THEN NULL ELSE list_sources.etag END,
    last_modified = CASE WHEN list_sources.url <> excluded.url THEN NULL ELSE list_sources.last_modified END,
    held_key = CASE WHEN ${IS_UNDONE}
      THEN list_sources.content_key WHEN list_sources.url = excluded.url THEN list_sources.held_key END,
    status = CASE WHEN ${IS_UNDONE}
      THEN 'held' ELSE list_sources.status END,
    last_error = CASE WHEN ${IS_UNDONE}
      THEN 'held: undone by going back to revision ' || $1::bigint ELSE list_sources.last_error END`;

const RESTORE_OTHERS = [
  `INSERT INTO list_source_groups (source_id, group_id)
     SELECT source_id, group_id FROM ${rowsOf('list_source_groups')}`,
  ...['managed_domains', 'regex_filters'].map((name) => {
    const text = name === 'managed_domains' ? 'domain' : 'pattern';
    const columns = `id, name, ${text}, action, group_id, comment, enabled, created_at, updated_at`;
    return `INSERT INTO ${name} (${columns}) SELECT ${columns} FROM ${rowsOf(name)}`;
  }),
  `INSERT INTO custom_services (service_id, name, category, domains, created_at, updated_at)
     SELECT service_id, name, category, domains, created_at, updated_at FROM ${rowsOf('custom_services')}`,
  `INSERT INTO blocked_services (id, service_id, group_id, created_at)
     SELECT id, service_id, group_id, created_at FROM ${rowsOf('blocked_services')}`,
  `INSERT INTO forward_zones (id, zone, servers, comment, enabled, created_at, updated_at)
     SELECT id, zone, servers, comment, enabled, created_at, updated_at FROM ${rowsOf('forward_zones')}`,
  `INSERT INTO local_records (id, hostname, domain, fqdn, record_type, value, ttl, comment, created_at, updated_at)
     SELECT id, hostname, domain, fqdn, record_type, value, ttl, comment, created_at, updated_at
     FROM ${rowsOf('local_records')}`,
  `INSERT INTO schedule_profiles (id, name, timezone, comment, created_at, updated_at)
     SELECT id, name, timezone, comment, created_at, updated_at FROM ${rowsOf('schedule_profiles')}`,
  `INSERT INTO schedule_slots (id, profile_id, days, start_minute, end_minute, action, created_at)
     SELECT id, profile_id, days, start_minute, end_minute, action, created_at FROM ${rowsOf('schedule_slots')}`,
  `INSERT INTO group_schedules (group_id, profile_id, created_at)
     SELECT group_id, profile_id, created_at FROM ${rowsOf('group_schedules')}`,
  `INSERT INTO client_subnets (id, cidr, group_id, comment, created_at)
     SELECT id, cidr, group_id, comment, created_at FROM ${copiedRowsOf('client_subnets')}`,
  `INSERT INTO dns_settings SELECT * FROM ${rowsOf('dns_settings')}`,
  `INSERT INTO safe_search_configs SELECT * FROM ${rowsOf('safe_search_configs')}`,
];

/** Makes the tables those of revision `id`, which must be kept; 409 where a newer group has a name of then. */
export async function restorePolicy(tx: Queryable, id: number): Promise<void> {
  try {
    for (const name of CLEARED) await tx.query(`DELETE FROM ${name}`);
    await tx.query(RESTORE_GROUPS, [id]);
    await tx.query(DELETE_NEW_SOURCES, [id]);
    await tx.query(RESTORE_SOURCES, [id]);
    for (const text of RESTORE_OTHERS) await tx.query(text, [id]);
  } catch (error) {
    if (isUniqueViolation(error) || isForeignKeyViolation(error))
      throw conflict(
        `revision ${id} cannot be restored: a group or source made since has a name or URL of then`,
      );
    throw error;
  }
}
