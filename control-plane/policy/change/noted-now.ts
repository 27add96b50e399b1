/** SQL for changes recorded in `policy_changes` by this transaction. */
import type { Queryable } from '../../storage/db/database.ts';

/** The position in `policy_changes` of the last revision. */
export const LAST_REVISION = 'coalesce((SELECT last_change FROM revisions ORDER BY id DESC LIMIT 1), 0)';

/** Whether this transaction recorded a change. */
export const NOTED_NOW = 'xmin = pg_current_xact_id()::xid';

/** Deletes all recorded changes: revisions start from the current rows, and rollbacks cannot undo earlier changes. */
export async function deleteChanges(tx: Queryable): Promise<void> {
  await tx.query(`DELETE FROM policy_changes WHERE ${NOTED_NOW}`);
}
