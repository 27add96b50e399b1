/**
 * Rolls back to a revision: restores its rows in one transaction, which is itself a revision, then its list contents,
 * from the rules on disk if they still exist (no compile), else from the copies.
 */
import type { Revision } from '../../../shared/api/revisions-api.ts';
import type { Author } from '../../api/caller.ts';
import { changedRow } from '../../clients/devices/client-change.ts';
import type { ClientDirectory } from '../../clients/devices/client-directory.ts';
import type { StoredClient } from '../../clients/devices/client-record.ts';
import { returnClients } from '../../clients/devices/client-store.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { Changed, PolicyChanges } from '../../policy/change/change.ts';
import { restorePolicy } from './restore-store.ts';
import {
  newestRevision,
  readRevision,
  refuseForgotten,
  refuseUnknownHead,
} from '../../policy/change/revision-store.ts';

/** Parts of a rollback. */
export interface RollBackParts {
  readonly database: Queryable;
  readonly policy: PolicyChanges;
  readonly clients: Pick<ClientDirectory, 'put'>;
  /** Puts the restored rows and lists into force. */
  readonly bringBack: () => Promise<void>;
}

/**
 * Puts revision `id` into force, if the newest one is `expectedHead`, and returns the new revision, or the newest one if policy is
 * unchanged. 404, 409.
 */
export async function rollBack(
  { database, policy, clients, bringBack }: RollBackParts,
  id: number,
  author: Author,
  expectedHead?: number,
): Promise<Revision> {
  const work = async (tx: Queryable): Promise<Changed<readonly StoredClient[]>> => {
    await refuseForgotten(tx, id);
    if (expectedHead !== undefined) await refuseUnknownHead(tx, expectedHead);
    const { rows: groups } = await tx.query<{ id: number }>('SELECT id FROM groups');
    await restorePolicy(tx, id);
    const groupsBefore = groups.map((group) => group.id);
    const returned = await returnClients(tx, id, groupsBefore);
    const outside = returned.flatMap((client) => changedRow({ ...client, groupId: null }, client));
    return { result: returned, summary: `rolled back to revision ${id}`, outside };
  };
  const { revision } = await policy.changeWithRevision(author, work, (returned) => {
    for (const client of returned) clients.put(client);
    return bringBack();
  });
  return revision === null ? newestRevision(database) : readRevision(database, revision);
}
