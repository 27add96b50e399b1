/**
 * SQL of `revisions`: author, summary, and the position in the log of changed rows, `policy_changes`, for a rollback.
 * `record-revision-store.ts` writes them, `restore-store.ts` restores them. Revisions that Weir itself creates only
 * record new contents of lists, which rollbacks do not undo; all other policy is the same as in the previous revision.
 */
import type { Revision } from '../../../shared/api/revisions-api.ts';
import { conflict, notFound } from '../../api/api-error.ts';
import type { Queryable } from '../../storage/db/database.ts';

/** Revisions by users that can be rolled back to. */
export const KEPT_POLICIES = 100;

/**
 * SQL of the oldest revision that can be rolled back to; 0 = all revisions can. `newer` is the SQL of the number of
 * revisions that are about to be created.
 */
export const oldestKept = (newer = '0'): string => `coalesce((SELECT id FROM revisions WHERE is_own = false
  ORDER BY id DESC OFFSET ${KEPT_POLICIES - 1} - ${newer} LIMIT 1), 0)`;

interface RevisionRow {
  /** pg returns `bigint` as text. */
  readonly id: string;
  readonly created_at: Date;
  readonly author: string;
  readonly summary: string;
  readonly codes: Revision['codes'];
  readonly is_own: boolean;
  readonly can_rollback: boolean;
}

const COLUMNS = `id, created_at, author, summary, codes, is_own, id >= ${oldestKept()} AS can_rollback`;

/** The revisions, newest first. */
export async function listRevisions(db: Queryable): Promise<Revision[]> {
  const { rows } = await db.query<RevisionRow>(`SELECT ${COLUMNS} FROM revisions ORDER BY id DESC`);
  return rows.map(toRevision);
}

/** The newest revision; call this only after the first change. */
export async function newestRevision(db: Queryable): Promise<Revision> {
  const { rows } = await db.query<RevisionRow>(`SELECT ${COLUMNS} FROM revisions ORDER BY id DESC LIMIT 1`);
  return toRevision(rows[0]!);
}

/** Id of the newest revision; null before the first change. */
export async function newestRevisionId(db: Queryable): Promise<number | null> {
  const { rows } = await db.query<{ id: string | null }>('SELECT max(id) AS id FROM revisions');
  const id = rows[0]?.id ?? null;
  return id === null ? null : Number(id);
}

/** The newest revision at a given time, the newest revision now, and the time of the latter; null = none. */
export async function revisionsAt(
  db: Queryable,
  moment: Date,
): Promise<{ then: number | null; now: number | null; nowSince: Date | null }> {
  const { rows } = await db.query<{ then: string | null; now: string | null; since: Date | null }>(
    `SELECT max(id) FILTER (WHERE created_at <= $1) AS then, max(id) AS now, max(created_at) AS since FROM revisions`,
    [moment],
  );
  const { then, now, since } = rows[0]!;
  const idOf = (id: string | null): number | null => (id === null ? null : Number(id));
  return { then: idOf(then), now: idOf(now), nowSince: since };
}

/** A revision that is known to exist. */
export async function readRevision(db: Queryable, id: number): Promise<Revision> {
  const { rows } = await db.query<RevisionRow>(`SELECT ${COLUMNS} FROM revisions WHERE id = $1`, [id]);
  return toRevision(rows[0]!);
}

/** One revision; throws 404 if it does not exist. */
export async function findRevision(db: Queryable, id: number): Promise<Revision> {
  const { rows } = await db.query<RevisionRow>(`SELECT ${COLUMNS} FROM revisions WHERE id = $1`, [id]);
  if (rows[0] === undefined) throw notFound(`revision ${id}`);
  return toRevision(rows[0]);
}

/** Maximum number of newer revisions listed in an error. */
const MAX_NAMED = 5;

/**
 * Throws 409 with the revisions that users created after `head`: the caller does not know these revisions, and their
 * changes would be lost.
 */
export async function refuseUnknownHead(db: Queryable, head: number): Promise<void> {
  const newest = await newestRevisionId(db);
  if (newest === null) throw conflict(`revision ${head} does not exist; there are no revisions yet`);
  if (newest < head) throw conflict(`revision ${head} does not exist; the newest one is ${newest}`);
  const { rows } = await db.query<RevisionRow>(
    `SELECT ${COLUMNS} FROM revisions WHERE id > $1 AND NOT is_own ORDER BY id LIMIT ${MAX_NAMED + 1}`,
    [head],
  );
  if (rows.length === 0) return;
  const named = rows.slice(0, MAX_NAMED).map(({ id, author, summary }) => `${id} (${author}: ${summary})`);
  if (rows.length > MAX_NAMED) named.push('and more');
  throw conflict(`revision ${head} is not the newest; a rollback would also undo: ${named.join(', ')}`);
}

/** Throws 404 for an unknown revision, and 409 for a revision that is too old to be rolled back to. */
export async function refuseForgotten(db: Queryable, id: number): Promise<void> {
  const { rows } = await db.query<RevisionRow>(`SELECT ${COLUMNS} FROM revisions WHERE id = $1`, [id]);
  if (rows[0] === undefined) throw notFound(`revision ${id}`);
  if (!rows[0].can_rollback)
    throw conflict(
      `revision ${id} is too old: only the last ${KEPT_POLICIES} made by users can be rolled back to`,
    );
}

/**
 * SQL of content keys. They include copies that were active before a user changed or deleted their source, because a
 * rollback needs these copies.
 */
const NEEDED_COPIES = `SELECT was ->> 'content_key' AS key FROM policy_changes
    WHERE table_name = 'list_sources' AND was ->> 'content_key' IS NOT NULL
  UNION SELECT content_key FROM list_sources WHERE content_key IS NOT NULL
  UNION SELECT held_key FROM list_sources WHERE held_key IS NOT NULL`;

/** Deletes unneeded blobs as part of a change; there are never more of them than recorded changes. */
export async function dropUnneededBlobs(tx: Queryable): Promise<void> {
  await tx.query(`DELETE FROM blobs WHERE content_key NOT IN (${NEEDED_COPIES}
    UNION SELECT content_key FROM service_catalog WHERE content_key IS NOT NULL)`);
}

/** Content keys of the lists that are active or held, or that a rollback may restore. */
export async function neededCopies(db: Queryable): Promise<Set<string>> {
  const { rows } = await db.query<{ key: string }>(NEEDED_COPIES);
  return new Set(rows.map(({ key }) => key));
}

function toRevision(row: RevisionRow): Revision {
  return {
    id: Number(row.id),
    created_at: row.created_at.toISOString(),
    author: row.author,
    summary: row.summary,
    codes: row.codes,
    is_own: row.is_own,
    can_rollback: row.can_rollback,
  };
}
