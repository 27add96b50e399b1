/**
 * SQL that restores the policy tables of a revision inside one transaction.
 *
 * Rules, services, schedules, client subnets and list sources become exactly those of the revision, by undoing what
 * `policy_changes` notes since. Groups of the revision come back as they were, but groups made since stay: clients may
 * belong to them, and a rollback of rules must not move clients. They are left without rules. What is
 * known of a list's server stays as it is, so a list whose newer copy is undone does not come back with the next fetch
 * of that copy: it is held.
 */
import { TEXT_URL } from '../../../shared/policy/source-kind.ts';
import { conflict } from '../../api/api-error.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../../storage/db/database-errors.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { hasKey, NOTED } from '../../policy/change/versioned-tables.ts';
import type { NotedTable } from '../../policy/change/versioned-tables.ts';

const rowsOf = (name: string): string =>
  `jsonb_populate_recordset(NULL::${name}, (SELECT policy -> '${name}' FROM revisions WHERE id = $1))`;

const changesOf = (name: string): string =>
  `FROM policy_changes WHERE table_name = '${name}' AND seq > (SELECT last_change FROM revisions WHERE id = $1)`;

/** Removes changed rows. */
const removeChanged = (table: NotedTable): string =>
  `DELETE FROM ${table.name} USING (SELECT DISTINCT key ${changesOf(table.name)}) changed
     WHERE ${hasKey(table, 'changed.key')}`;

/** The oldest change since the revision has the row's old state; cascaded removals are recorded as changes, too. */
const bringBackChanged = ({ name }: NotedTable): string =>
  `INSERT INTO ${name} SELECT r.* FROM (SELECT DISTINCT ON (key) was ${changesOf(name)} ORDER BY key, seq) first,
     jsonb_populate_record(NULL::${name}, first.was) r WHERE first.was IS NOT NULL`;

const RESTORE_GROUPS = `INSERT INTO groups (id, name, enabled, comment, no_ipv6, created_at, updated_at)
  SELECT id, name, enabled, comment, coalesce(no_ipv6, false), created_at, updated_at FROM ${rowsOf('groups')}
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, enabled = excluded.enabled, comment = excluded.comment,
    no_ipv6 = excluded.no_ipv6, updated_at = excluded.updated_at`;

const DELETE_NEW_SOURCES = `DELETE FROM list_sources WHERE id NOT IN (SELECT id FROM ${rowsOf('list_sources')})`;

const IS_CUSTOM = `starts_with(list_sources.url, '${TEXT_URL}')`;

/** The list had changed since; a text of custom rules that was undone is not held. */
const IS_UNDONE = `list_sources.url = excluded.url AND list_sources.content_key <> excluded.content_key
  AND NOT ${IS_CUSTOM}`;

/** A source that was deleted since is fetched again: nothing of its server's answers is kept. */
const RESTORE_SOURCES = `INSERT INTO list_sources
    (id, kind, name, url, enabled, comment, subdomains, format, status, rules, invalid_lines, bytes,
     last_changed_at, content_key, content_url_key, judged, created_at, updated_at)
  SELECT id, kind, name, url, enabled, comment, subdomains, format,
    CASE WHEN content_key IS NULL THEN 'pending' ELSE 'ok' END, rules, invalid_lines, bytes,
    last_changed_at, content_key, content_url_key, judged, created_at, updated_at FROM ${rowsOf('list_sources')}
  ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, name = excluded.name, url = excluded.url,
    enabled = excluded.enabled, comment = excluded.comment, subdomains = excluded.subdomains,
    content_key = coalesce(excluded.content_key, list_sources.content_key),
    content_url_key = coalesce(excluded.content_url_key, list_sources.content_url_key),
    judged = CASE WHEN excluded.content_key IS NULL THEN list_sources.judged ELSE excluded.judged END,
    rules = excluded.rules, invalid_lines = excluded.invalid_lines, format = excluded.format,
    etag = CASE WHEN list_sources.url <> excluded.url THEN NULL ELSE list_sources.etag END,
    last_modified = CASE WHEN list_sources.url <> excluded.url THEN NULL ELSE list_sources.last_modified END,
    held_key = CASE WHEN ${IS_UNDONE}
      THEN list_sources.content_key WHEN list_sources.url = excluded.url AND NOT ${IS_CUSTOM} THEN list_sources.held_key END,
    held = CASE WHEN ${IS_UNDONE} THEN jsonb_build_object('reason', 'undone', 'rules', list_sources.rules,
        'rules_in_force', excluded.rules, 'names', '[]'::jsonb, 'name_count', 0)
      WHEN list_sources.url = excluded.url AND NOT ${IS_CUSTOM} THEN list_sources.held END,
    status = CASE WHEN ${IS_UNDONE}
      THEN 'held' WHEN ${IS_CUSTOM} THEN 'ok' ELSE list_sources.status END,
    last_error = CASE WHEN ${IS_UNDONE}
      THEN 'held: undone by going back to revision ' || $1::bigint WHEN NOT ${IS_CUSTOM} THEN list_sources.last_error END`;

const RESTORE_SOURCE_GROUPS = `INSERT INTO list_source_groups (source_id, group_id)
  SELECT source_id, group_id FROM ${rowsOf('list_source_groups')}`;

/** Restores the tables of revision `id`, which must be kept; 409 if a newer group has one of its names. */
export async function restorePolicy(tx: Queryable, id: number): Promise<void> {
  try {
    await tx.query('DELETE FROM list_source_groups');
    for (const table of NOTED) await tx.query(removeChanged(table), [id]);
    await tx.query(RESTORE_GROUPS, [id]);
    await tx.query(DELETE_NEW_SOURCES, [id]);
    await tx.query(RESTORE_SOURCES, [id]);
    await tx.query(RESTORE_SOURCE_GROUPS, [id]);
    for (const table of NOTED) await tx.query(bringBackChanged(table), [id]);
  } catch (error) {
    if (isUniqueViolation(error) || isForeignKeyViolation(error))
      throw conflict(
        `revision ${id} cannot be restored: a group or source made since has a name or URL of that revision`,
      );
    throw error;
  }
}
