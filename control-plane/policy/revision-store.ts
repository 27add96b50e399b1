/**
 * SQL of `revisions`: what was changed by whom, and what it takes to go back to the last of them: how far
 * the log of changed rows, `policy_changes`, was then. Going back is `restore-store.ts`.
 */
import type { Revision } from '../../shared/api/revisions-api.ts';
import { conflict, notFound } from '../api/api-error.ts';
import type { Queryable } from '../db/database.ts';
import { COPIED } from './noted-tables.ts';

/** Revisions of people that one can go back to. */
const KEPT_POLICIES = 20;
/** The same of those that Weir makes by itself, which must not use up the others. */
const KEPT_OWN_POLICIES = 10;
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
/** What is restored in a way of its own is copied; of all other tables `policy_changes` knows what changed since. */
const POLICY = `jsonb_build_object(${COPIED.map(table).join(', ')})`;
const LAST_CHANGE = '(SELECT coalesce(max(seq), 0) FROM policy_changes)';
const LIST_COPIES = `(SELECT coalesce(array_agg(content_key), '{}') FROM list_sources WHERE content_key IS NOT NULL)`;
const beyond = (count: number, whose = 'true'): string =>
  `id <= (SELECT id FROM revisions WHERE ${whose} ORDER BY id DESC OFFSET ${count} LIMIT 1)`;
const forgetPolicies = (count: number, whose: string): string => `
  UPDATE revisions SET policy = NULL, list_copies = '{}'
    WHERE policy IS NOT NULL AND ${whose} AND ${beyond(count, whose)};`;
/** In one message to the server, as every change waits for it. */
const FORGET = `${forgetPolicies(KEPT_POLICIES, 'NOT is_own')} ${forgetPolicies(KEPT_OWN_POLICIES, 'is_own')}
  DELETE FROM revisions WHERE policy IS NULL AND ${beyond(KEPT_REVISIONS)};
  DELETE FROM policy_changes WHERE seq <= (SELECT min(last_change) FROM revisions WHERE policy IS NOT NULL)`;

/** What is told of a change. */
export interface RevisionNote {
  readonly author: string;
  /** Weir made it by itself. */
  readonly isOwn: boolean;
  readonly summary: string;
}

/** Writes the revision of a change that was made in the same transaction, and forgets the oldest ones; returns its id. */
export async function recordRevision(
  tx: Queryable,
  { author, isOwn, summary }: RevisionNote,
): Promise<number> {
  const { rows } = await tx.query<{ id: string }>(
    `INSERT INTO revisions (author, is_own, summary, policy, last_change, list_copies)
     SELECT $1, $2, $3, ${POLICY}, ${LAST_CHANGE}, ${LIST_COPIES} RETURNING id`,
    [author, isOwn, summary],
  );
  await tx.query(FORGET);
  return Number(rows[0]!.id);
}

/** Newest first. */
export async function listRevisions(db: Queryable): Promise<Revision[]> {
  const { rows } = await db.query<RevisionRow>(`SELECT ${COLUMNS} FROM revisions ORDER BY id DESC`);
  return rows.map(toRevision);
}

/** The newest one; there is one once something has changed. */
export async function newestRevision(db: Queryable): Promise<Revision> {
  const { rows } = await db.query<RevisionRow>(`SELECT ${COLUMNS} FROM revisions ORDER BY id DESC LIMIT 1`);
  return toRevision(rows[0]!);
}

/** One of which it is known that it exists. */
export async function readRevision(db: Queryable, id: number): Promise<Revision> {
  const { rows } = await db.query<RevisionRow>(`SELECT ${COLUMNS} FROM revisions WHERE id = $1`, [id]);
  return toRevision(rows[0]!);
}

/** 404 for an unknown revision, 409 for one whose policy is not kept any more. */
export async function refuseForgotten(db: Queryable, id: number): Promise<void> {
  const { rows } = await db.query<RevisionRow>(`SELECT ${COLUMNS} FROM revisions WHERE id = $1`, [id]);
  if (rows[0] === undefined) throw notFound(`revision ${id}`);
  if (!rows[0].can_rollback)
    throw conflict(
      `revision ${id} is too old: only the last ${KEPT_POLICIES}, and ${KEPT_OWN_POLICIES} of Weir's own, can be gone back to`,
    );
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
