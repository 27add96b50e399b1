/** SQL that writes the revision of a change, and deletes the oldest ones. Used by `change.ts` only. */
import type { Queryable } from '../db/database.ts';
import { COPIED } from './noted-tables.ts';
import { KEPT_OWN_POLICIES, KEPT_POLICIES } from './revision-store.ts';

/** Revisions that are listed. */
const KEPT_REVISIONS = 1000;

const table = (name: string): string =>
  `'${name}', (SELECT coalesce(jsonb_agg(to_jsonb(t)), '[]') FROM ${name} t)`;
/**
 * What is restored in a way of its own is copied; of all other tables `policy_changes` knows what changed since. The
 * copy of the newest revision still holds where none of these tables has changed since: it is quicker than a new one.
 */
const POLICY = `coalesce((SELECT policy FROM revisions newest WHERE id = (SELECT max(id) FROM revisions)
    AND NOT EXISTS (SELECT FROM policy_changes WHERE seq > newest.last_change
      AND table_name IN (${COPIED.map(({ name }) => `'${name}'`).join(', ')}))),
  jsonb_build_object(${COPIED.map(({ name }) => table(name)).join(', ')}))`;
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

/** The description of a change. */
export interface RevisionNote {
  readonly author: string;
  /** Weir made it by itself. */
  readonly isOwn: boolean;
  readonly summary: string;
}

/**
 * Writes the revision of a change that was made in the same transaction, and forgets the oldest ones; returns its id.
 */
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
