/**
 * SQL that writes the revision of a change and its audit entry, and deletes the oldest revisions. Only used by
 * `change.ts`.
 */
import { joined, summaryParts } from '../../../shared/policy/changes/change-codes.ts';
import { auditValues, insertAudit, storedCodes } from '../audit/audit-store.ts';
import type { AuditEntry } from '../audit/audit-store.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { LAST_REVISION, NOTED_NOW } from './noted-now.ts';
import { oldestKept } from './revision-store.ts';

/** Maximum number of revisions that are kept. Fewer are kept if failed changes have used some ids. */
const KEPT_REVISIONS = 1000;

const LAST_CHANGE = '(SELECT coalesce(max(seq), 0) FROM policy_changes)';
/** SQL of the oldest revision that can be rolled back to after this change. */
const OLDEST_KEPT = oldestKept('CASE WHEN $2::boolean THEN 0 ELSE 1 END');
/**
 * A single statement, because every change waits for it. All parts of the statement see the revisions as they were
 * before it. (Conditions have a lower and an upper bound, so that the planner expects few rows and uses the index.) Row
 * changes that Weir itself made are deleted from the log of changes, so that rollbacks do not undo them. The last
 * revision before the first one by a user is kept, so that all changes by users can be undone.
 */
const RECORD = `WITH made AS (
    INSERT INTO revisions (author, is_own, summary, codes, last_change)
    SELECT $1, $2::boolean, $3, $4::jsonb, ${LAST_CHANGE} RETURNING id),
  oldest AS (DELETE FROM revisions WHERE id > 0 AND id <= (SELECT max(id) FROM revisions) - ${KEPT_REVISIONS - 1}
    AND (id < ${OLDEST_KEPT} OR is_own AND id IS DISTINCT FROM (SELECT max(id) FROM revisions
      WHERE id < (SELECT min(id) FROM revisions WHERE is_own = false)))),
  unneeded AS (DELETE FROM policy_changes
    WHERE seq > 0 AND seq <= (SELECT last_change FROM revisions WHERE id = ${OLDEST_KEPT})),
  own AS (DELETE FROM policy_changes
    WHERE $2::boolean AND seq > ${LAST_REVISION} AND seq <= ${LAST_REVISION} + 1000000000000 AND ${NOTED_NOW}),
  audited AS (${insertAudit(5, 'id', 'FROM made')})
  SELECT id FROM made`;

/** The description of a change. */
export interface RevisionNote {
  /** Whether Weir itself made the change. */
  readonly isOwn: boolean;
  /** Audit entry of the change. The revision has the same author, subject and action. */
  readonly audit: Omit<AuditEntry, 'revision'>;
}

/**
 * Writes the revision of a change that was made in the same transaction, and its audit entry, and deletes the oldest
 * revisions; returns its id.
 */
export async function recordRevision(tx: Queryable, note: RevisionNote): Promise<number> {
  const { isOwn, audit } = note;
  const summary = joined(summaryParts(audit));
  const values = [audit.actor.name, isOwn, summary, storedCodes(audit), ...auditValues(audit)];
  const { rows } = await tx.query<{ id: string }>(RECORD, values);
  return Number(rows[0]!.id);
}
