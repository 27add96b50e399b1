/** SQL of what the transaction has noted in `policy_changes` so far. */
import type { Queryable } from '../../storage/db/database.ts';

/** The place in `policy_changes` up to which there are revisions. */
export const LAST_REVISION = 'coalesce((SELECT last_change FROM revisions ORDER BY id DESC LIMIT 1), 0)';

/** Whether this transaction has noted a change. */
export const NOTED_NOW = 'xmin = pg_current_xact_id()::xid';

/** Clears all changes: revisions start from the current rows, and no rollback undoes them. */
export async function forgetChanges(tx: Queryable): Promise<void> {
  await tx.query(`DELETE FROM policy_changes WHERE ${NOTED_NOW}`);
}
