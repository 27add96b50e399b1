/**
 * Rolls back to a revision: restores its rows in one transaction, which is itself a revision, then activates them.
 * Deleted lists are restored from the rules on disk if these still exist (without compiling); if not, from the copies
 * of their text.
 */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import type { Revision } from '../../../shared/api/revisions-api.ts';
import type { Author } from '../../api/caller.ts';
import type { ClientDirectory } from '../../clients/devices/client-directory.ts';
import type { ChangedClients } from '../../clients/devices/client-record.ts';
import { changedClients } from '../../clients/devices/client-store.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { Changed, PolicyChanges } from '../../policy/change/change.ts';
import { restorePolicy } from './restore-store.ts';
import {
  newestRevision,
  readRevision,
  refuseForgotten,
  refuseUnknownHead,
} from '../../policy/change/revision-store.ts';

/** Dependencies of a rollback. */
export interface RollBackParts {
  readonly database: Queryable;
  readonly policy: PolicyChanges;
  readonly clients: Pick<ClientDirectory, 'takeOver'>;
  /** Applies the restored rows and lists. */
  readonly activateRestored: () => Promise<void>;
}

/**
 * Rolls back to revision `id`, if no user has made a revision since `expectedHead`, and returns the new revision, or
 * the newest one if policy is unchanged. Throws 404 and 409.
 */
export async function rollBack(
  { database, policy, clients, activateRestored }: RollBackParts,
  id: number,
  author: Author,
  expectedHead?: number,
): Promise<Revision> {
  const work = async (tx: Queryable): Promise<Changed<ChangedClients>> => {
    await refuseForgotten(tx, id);
    if (expectedHead !== undefined) await refuseUnknownHead(tx, expectedHead);
    await restorePolicy(tx, id);
    const action = codedAction('rolled_back', { revision: id });
    return { result: await changedClients(tx), summary: { subject: codedSubject('policy'), action } };
  };
  const { revision } = await policy.changeWithRevision(author, work, (restored) => {
    clients.takeOver(restored);
    return activateRestored();
  });
  return revision === null ? newestRevision(database) : readRevision(database, revision);
}
