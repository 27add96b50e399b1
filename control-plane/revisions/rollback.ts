/**
 * Going back to a revision: the rows of then in one transaction, which is itself a revision, and then the
 * lists of then, from the rules on disk where they are still there (no compile), else from their copies.
 */
import type { Revision } from '../../shared/api/revisions-api.ts';
import type { Database } from '../db/database.ts';
import { changeWithRevision } from '../policy/change.ts';
import { restorePolicy } from './restore-store.ts';
import { newestRevision, readRevision, refuseForgotten } from '../policy/revision-store.ts';

/**
 * Makes revision `id` the policy in force and returns the revision that this is: the newest one, where policy is what
 * it was then. 404, 409.
 */
export async function rollBack(
  database: Database,
  bringBack: () => Promise<void>,
  id: number,
  author: string,
): Promise<Revision> {
  const { revision } = await changeWithRevision(database, author, async (tx) => {
    await refuseForgotten(tx, id);
    await restorePolicy(tx, id);
    return { result: undefined, summary: `rolled back to revision ${id}` };
  });
  await bringBack();
  return revision === null ? newestRevision(database) : readRevision(database, revision);
}
