/**
 * SQL that restores changed list sources. The contents of lists are kept, unless users changed them by deleting a list,
 * giving it another URL, approving an update, or editing custom rules.
 */
import { TEXT_URL } from '../../../shared/policy/source-kind.ts';
import { changesOf, firstChangesOf } from './noted-changes.ts';

/** The row of each list before the first change of its content by a user. */
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
/** Lists as they were, with the contents from before the users' choices. */
const SOURCES_BEFORE = `SELECT r.* FROM ${firstChangesOf('list_sources')} first
  LEFT JOIN ${FIRST_CONTENTS} content ON content.key = first.key AND content.was ->> 'url' = first.was ->> 'url',
  jsonb_populate_record(NULL::list_sources, first.was
    || coalesce(content.was - ARRAY[${SETTINGS.map((column) => `'${column}'`).join(', ')}], '{}')) r
  WHERE first.was IS NOT NULL`;

const IS_CUSTOM = `starts_with(list_sources.url, '${TEXT_URL}')`;
const IS_CHOSEN = `EXISTS (SELECT FROM ${FIRST_CONTENTS} content WHERE content.key::integer = list_sources.id)`;
/** Condition that the earlier content is also restored. */
const HAS_OTHER_CONTENT = `(list_sources.url <> excluded.url OR ${IS_CHOSEN})`;
/** A copy that a user approved after the revision is held again, so that the next fetch does not activate it. */
const IS_UNDONE = `(list_sources.url = excluded.url AND ${IS_CHOSEN} AND NOT ${IS_CUSTOM}
  AND list_sources.content_key <> excluded.content_key)`;
const earlier = (column: string): string =>
  `${column} = CASE WHEN ${HAS_OTHER_CONTENT} THEN excluded.${column} ELSE list_sources.${column} END`;
/** A list that had not been fetched keeps its current rules until it is fetched. */
const earlierIfAny = (column: string): string =>
  `${column} = CASE WHEN ${HAS_OTHER_CONTENT} AND excluded.content_key IS NOT NULL
    THEN excluded.${column} ELSE list_sources.${column} END`;
const heldColumn = (column: string, held: string): string =>
  `${column} = CASE WHEN ${IS_UNDONE} THEN ${held} WHEN NOT ${HAS_OTHER_CONTENT} THEN list_sources.${column} END`;
/** The server's data about its copy; NULL if the URL differs. */
const ofServer = (column: string): string =>
  `${column} = CASE WHEN list_sources.url = excluded.url THEN list_sources.${column} END`;

/** A source that was deleted is fetched again: nothing of its server's responses is kept. */
export const RESTORE_SOURCES = `INSERT INTO list_sources
    (id, kind, name, url, enabled, comment, subdomains, format, status, rules, invalid_lines, bytes,
     last_changed_at, content_key, content_url_key, judged, created_at, updated_at)
  SELECT id, kind, name, url, enabled, comment, subdomains, format,
    CASE WHEN content_key IS NULL THEN 'pending' ELSE 'ok' END, rules, invalid_lines, bytes,
    last_changed_at, content_key, content_url_key, judged, created_at, updated_at FROM (${SOURCES_BEFORE}) was
  ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, name = excluded.name, url = excluded.url,
    enabled = excluded.enabled, comment = excluded.comment, subdomains = excluded.subdomains,
    updated_at = excluded.updated_at,
    ${['format', 'rules', 'invalid_lines', 'bytes', 'last_changed_at'].map(earlier).join(', ')},
    ${['content_key', 'content_url_key', 'judged'].map(earlierIfAny).join(', ')},
    ${['etag', 'last_modified', 'last_checked_at'].map(ofServer).join(', ')},
    status = CASE WHEN ${IS_UNDONE} THEN 'held' WHEN ${HAS_OTHER_CONTENT} THEN excluded.status ELSE list_sources.status END,
    ${heldColumn('held_key', 'list_sources.content_key')},
    ${heldColumn(
      'held',
      `jsonb_build_object('reason', 'undone', 'rules', list_sources.rules, 'rules_in_force', excluded.rules,
        'names', '[]'::jsonb, 'name_count', 0)`,
    )},
    ${heldColumn('last_error', `'held: undone by rolling back to revision ' || $1::bigint`)}`;
