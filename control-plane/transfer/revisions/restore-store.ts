/**
 * SQL that restores the policy of a revision inside one transaction, by undoing what `policy_changes` notes since: a row
 * that was not there goes, one that was changed or removed becomes what it was before its first change.
 *
 * Contents of lists stay as they are now, except those that people changed: a list that they deleted or gave another URL, an
 * update that they approved, custom rules. What was seen of clients and found out about lists also stays.
 */
import { TEXT_URL } from '../../../shared/policy/source-kind.ts';
import { conflict } from '../../api/api-error.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../../storage/db/database-errors.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { hasKey, REINSERTED } from '../../policy/change/versioned-tables.ts';
import type { NotedTable } from '../../policy/change/versioned-tables.ts';
import { detachClients, restoreClients } from './restore-clients.ts';
import { changesOf, firstChangesOf } from './noted-changes.ts';

const removeChanged = (table: NotedTable): string =>
  `DELETE FROM ${table.name} USING (SELECT DISTINCT key ${changesOf(table.name)}) changed
     WHERE ${hasKey(table, 'changed.key')}`;

/** Removals by a cascade are noted as well. */
const bringBackChanged = ({ name }: NotedTable): string =>
  `INSERT INTO ${name} SELECT r.* FROM ${firstChangesOf(name)} first,
     jsonb_populate_record(NULL::${name}, first.was) r WHERE first.was IS NOT NULL`;

const removeNew = (name: 'groups' | 'list_sources'): string =>
  `DELETE FROM ${name} USING ${firstChangesOf(name)} first WHERE first.was IS NULL AND id = first.key::integer`;

/** Two groups may have exchanged their names. */
const FREE_GROUP_NAMES = `UPDATE groups SET name = 'restored ' || gen_random_uuid() FROM ${firstChangesOf('groups')} first
  WHERE id = first.key::integer AND lower(name) <> lower(first.was ->> 'name')`;

const RESTORE_GROUPS = `INSERT INTO groups SELECT r.* FROM ${firstChangesOf('groups')} first,
    jsonb_populate_record(NULL::groups, first.was) r WHERE first.was IS NOT NULL
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, enabled = excluded.enabled, comment = excluded.comment,
    no_ipv6 = excluded.no_ipv6, updated_at = excluded.updated_at`;

/** Of each list the row before the first change of its content by a person. */
const FIRST_CONTENTS = `(SELECT DISTINCT ON (key) key, was ${changesOf('list_sources')} AND was ? 'has_new_content'
  ORDER BY key, seq)`;
const SETTINGS = [
  'id',
  'kind',
  'name',
  'url',
  'enabled',
  'comment',
  'subdomains',
  'created_at',
  'updated_at',
];
/** Lists as they were, with the contents before those that people chose. */
const SOURCES_THEN = `SELECT r.* FROM ${firstChangesOf('list_sources')} first
  LEFT JOIN ${FIRST_CONTENTS} content ON content.key = first.key AND content.was ->> 'url' = first.was ->> 'url',
  jsonb_populate_record(NULL::list_sources, first.was
    || coalesce(content.was - ARRAY[${SETTINGS.map((column) => `'${column}'`).join(', ')}], '{}')) r
  WHERE first.was IS NOT NULL`;

const IS_CUSTOM = `starts_with(list_sources.url, '${TEXT_URL}')`;
const IS_CHOSEN = `EXISTS (SELECT FROM ${FIRST_CONTENTS} content WHERE content.key::integer = list_sources.id)`;
/** The content of then also comes back. */
const HAS_OTHER_CONTENT = `(list_sources.url <> excluded.url OR ${IS_CHOSEN})`;
/** A copy that a person approved since is held again, so that the next fetch does not bring it back. */
const IS_UNDONE = `(list_sources.url = excluded.url AND ${IS_CHOSEN} AND NOT ${IS_CUSTOM}
  AND list_sources.content_key <> excluded.content_key)`;
const ofThen = (column: string): string =>
  `${column} = CASE WHEN ${HAS_OTHER_CONTENT} THEN excluded.${column} ELSE list_sources.${column} END`;
/** A list that had not been fetched keeps the rules that it has now, until it is. */
const ofThenIfAny = (column: string): string =>
  `${column} = CASE WHEN ${HAS_OTHER_CONTENT} AND excluded.content_key IS NOT NULL
    THEN excluded.${column} ELSE list_sources.${column} END`;
const ofHeld = (column: string, held: string): string =>
  `${column} = CASE WHEN ${IS_UNDONE} THEN ${held} WHEN NOT ${HAS_OTHER_CONTENT} THEN list_sources.${column} END`;
/** What the server said of its copy; nothing if it is another server. */
const ofServer = (column: string): string =>
  `${column} = CASE WHEN list_sources.url = excluded.url THEN list_sources.${column} END`;

/** A source that was deleted is fetched again: nothing of its server's answers is kept. */
const RESTORE_SOURCES = `INSERT INTO list_sources
    (id, kind, name, url, enabled, comment, subdomains, format, status, rules, invalid_lines, bytes,
     last_changed_at, content_key, content_url_key, judged, created_at, updated_at)
  SELECT id, kind, name, url, enabled, comment, subdomains, format,
    CASE WHEN content_key IS NULL THEN 'pending' ELSE 'ok' END, rules, invalid_lines, bytes,
    last_changed_at, content_key, content_url_key, judged, created_at, updated_at FROM (${SOURCES_THEN}) was
  ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, name = excluded.name, url = excluded.url,
    enabled = excluded.enabled, comment = excluded.comment, subdomains = excluded.subdomains,
    updated_at = excluded.updated_at,
    ${['format', 'rules', 'invalid_lines', 'bytes', 'last_changed_at'].map(ofThen).join(', ')},
    ${['content_key', 'content_url_key', 'judged'].map(ofThenIfAny).join(', ')},
    ${['etag', 'last_modified', 'last_checked_at'].map(ofServer).join(', ')},
    status = CASE WHEN ${IS_UNDONE} THEN 'held' WHEN ${HAS_OTHER_CONTENT} THEN excluded.status ELSE list_sources.status END,
    ${ofHeld('held_key', 'list_sources.content_key')},
    ${ofHeld(
      'held',
      `jsonb_build_object('reason', 'undone', 'rules', list_sources.rules, 'rules_in_force', excluded.rules,
        'names', '[]'::jsonb, 'name_count', 0)`,
    )},
    ${ofHeld('last_error', `'held: undone by rolling back to revision ' || $1::bigint`)}`;

/** Restores the policy of revision `id`, which must be kept; 409 if two list sources have exchanged their URLs since. */
export async function restorePolicy(tx: Queryable, id: number): Promise<void> {
  try {
    await detachClients(tx, id);
    for (const table of REINSERTED) await tx.query(removeChanged(table), [id]);
    const inPlace = [
      ...[removeNew('groups'), FREE_GROUP_NAMES, RESTORE_GROUPS],
      ...[removeNew('list_sources'), RESTORE_SOURCES],
    ];
    for (const text of inPlace) await tx.query(text, [id]);
    for (const table of REINSERTED) await tx.query(bringBackChanged(table), [id]);
    await restoreClients(tx, id);
  } catch (error) {
    if (isUniqueViolation(error) || isForeignKeyViolation(error))
      throw conflict(`revision ${id} cannot be restored: something else has a name or URL of that revision`);
    throw error;
  }
}
