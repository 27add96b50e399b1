/** SQL that writes the revision of a change and its audit entry, and deletes the oldest ones. Used by `change.ts` only. */
import { auditValues, insertAudit } from '../audit/audit-store.ts';
import type { AuditEntry } from '../audit/audit-store.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { COPIED } from './versioned-tables.ts';
import { KEPT_OWN_POLICIES, KEPT_POLICIES } from './revision-store.ts';

/** Revisions that are listed; fewer where a number was given to a change that failed. */
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
/**
 * One statement, as every change waits for it. Its parts see the revisions as they were before it. (With a range that has
 * two ends the planner expects few rows, and uses the index.)
 */
const RECORD = `WITH made AS (
    INSERT INTO revisions (author, is_own, summary, policy, last_change, list_copies)
    SELECT $1, $2::boolean, $3, ${POLICY}, ${LAST_CHANGE}, ${LIST_COPIES} RETURNING id),
  too_old AS (SELECT id FROM revisions WHERE policy IS NOT NULL AND is_own = $2::boolean ORDER BY id DESC
    OFFSET CASE WHEN $2::boolean THEN ${KEPT_OWN_POLICIES} ELSE ${KEPT_POLICIES} END - 1 LIMIT 1),
  forgotten AS (UPDATE revisions SET policy = NULL, list_copies = '{}'
    WHERE id = (SELECT id FROM too_old)),
  oldest AS (DELETE FROM revisions WHERE policy IS NULL
    AND id > 0 AND id <= (SELECT max(id) FROM revisions) - ${KEPT_REVISIONS - 1}),
  unneeded AS (DELETE FROM policy_changes WHERE seq <= coalesce((SELECT min(last_change) FROM revisions
    WHERE policy IS NOT NULL AND id IS DISTINCT FROM (SELECT id FROM too_old)),
    ${LAST_CHANGE})),
  audited AS (${insertAudit(4, 'id', 'FROM made')})
  SELECT id FROM made`;

/** The description of a change. */
export interface RevisionNote {
  /** Weir made it by itself. */
  readonly isOwn: boolean;
  readonly summary: string;
  /** Its author is the actor. */
  readonly audit: Omit<AuditEntry, 'revision'>;
}

/**
 * Writes the revision of a change that was made in the same transaction, and its entry of the audit log, and forgets the
 * oldest revisions; returns its id.
 */
export async function recordRevision(tx: Queryable, note: RevisionNote): Promise<number> {
  const { isOwn, summary, audit } = note;
  const values = [audit.actor.name, isOwn, summary, ...auditValues(audit)];
  const { rows } = await tx.query<{ id: string }>(RECORD, values);
  return Number(rows[0]!.id);
}
