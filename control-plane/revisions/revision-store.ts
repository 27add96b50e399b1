/**
 * SQL of `revisions`: what was changed by whom, and the rows of all policy tables after each of the last
 * changes. Going back to one of them is `restore-store.ts`.
 */
import type { Revision } from '../../shared/api/revisions.ts';
import { conflict, notFound } from '../api-error.ts';
import type { Queryable } from '../db/database.ts';

/** Revisions that one can go back to. */
const KEPT_POLICIES = 20;
/** Revisions that are listed. */
const KEPT_REVISIONS = 1000;

interface RevisionRow {
  /** `bigint` comes as text. */
  readonly id: string;
  readonly created_at: Date;
  readonly author: string;
  readonly summary: string;
  readonly can_rollback: boolean;
}

const COLUMNS = 'id, created_at, author, summary, policy IS NOT NULL AS can_rollback';

const table = (name: string): string =>
  `'${name}', (SELECT coalesce(jsonb_agg(to_jsonb(t)), '[]') FROM ${name} t)`;
const POLICY = `jsonb_build_object(${[
  'groups',
  'list_sources',
  'list_source_groups',
  'managed_domains',
  'regex_filters',
  'custom_services',
  'blocked_services',
  'forward_zones',
  'local_records',
  'schedule_profiles',
  'schedule_slots',
  'group_schedules',
  'dns_settings',
  'safe_search_configs',
]
  .map(table)
  .join(', ')})`;
/** Tables that say when they change, see `table_versions`: copied once for all revisions that have it so. */
const VERSIONS = `(SELECT jsonb_object_agg(name, version) FROM table_versions WHERE name = 'client_subnets')`;
const COPY_SUBNETS = `INSERT INTO table_copies (name, version, rows)
  SELECT v.name, v.version, (SELECT coalesce(json_agg(to_json(t)), '[]') FROM client_subnets t)
  FROM table_versions v WHERE v.name = 'client_subnets'
    AND NOT EXISTS (SELECT FROM table_copies c WHERE c.name = v.name AND c.version = v.version)`;
const FORGET_COPIES = `DELETE FROM table_copies c WHERE NOT EXISTS (SELECT FROM revisions r
  WHERE r.policy IS NOT NULL AND r.table_versions ->> c.name = c.version::text)`;
const LIST_COPIES = `(SELECT coalesce(array_agg(content_key), '{}') FROM list_sources WHERE content_key IS NOT NULL)`;

/** Writes the revision of a change that was made in the same transaction, and forgets the oldest ones. */
export async function recordRevision(tx: Queryable, author: string, summary: string): Promise<void> {
  await tx.query(
    `INSERT INTO revisions (author, summary, policy, table_versions, list_copies)
     SELECT $1, $2, ${POLICY}, ${VERSIONS}, ${LIST_COPIES}`,
    [author, summary],
  );
  await tx.query(COPY_SUBNETS);
  await tx.query(
    `UPDATE revisions SET policy = NULL, list_copies = '{}' WHERE policy IS NOT NULL
       AND id <= (SELECT id FROM revisions ORDER BY id DESC OFFSET $1 LIMIT 1)`,
    [KEPT_POLICIES],
  );
  await tx.query(
    'DELETE FROM revisions WHERE id <= (SELECT id FROM revisions ORDER BY id DESC OFFSET $1 LIMIT 1)',
    [KEPT_REVISIONS],
  );
  await tx.query(FORGET_COPIES);
}

/** Newest first. */
export async function listRevisions(db: Queryable): Promise<Revision[]> {
  const { rows } = await db.query<RevisionRow>(`SELECT ${COLUMNS} FROM revisions ORDER BY id DESC`);
  return rows.map(toRevision);
}

/** The newest one; there is one after each change. */
export async function newestRevision(db: Queryable): Promise<Revision> {
  const { rows } = await db.query<RevisionRow>(`SELECT ${COLUMNS} FROM revisions ORDER BY id DESC LIMIT 1`);
  return toRevision(rows[0]!);
}

/** 404 for an unknown revision, 409 for one whose policy is not kept any more. */
export async function refuseForgotten(db: Queryable, id: number): Promise<void> {
  const { rows } = await db.query<RevisionRow>(`SELECT ${COLUMNS} FROM revisions WHERE id = $1`, [id]);
  if (rows[0] === undefined) throw notFound(`revision ${id}`);
  if (!rows[0].can_rollback)
    throw conflict(`revision ${id} is too old: only the last ${KEPT_POLICIES} can be gone back to`);
}

/** Content keys of the lists that some kept revision, or a held copy, still needs. */
export async function neededCopies(db: Queryable): Promise<Set<string>> {
  const { rows } = await db.query<{ key: string }>(
    `SELECT unnest(list_copies) AS key FROM revisions
     UNION SELECT content_key FROM list_sources WHERE content_key IS NOT NULL
     UNION SELECT held_key FROM list_sources WHERE held_key IS NOT NULL`,
  );
  return new Set(rows.map(({ key }) => key));
}

function toRevision(row: RevisionRow): Revision {
  return {
    id: Number(row.id),
    created_at: row.created_at.toISOString(),
    author: row.author,
    summary: row.summary,
    can_rollback: row.can_rollback,
  };
}
