/** Writes audit entries for changes of clients that do not create a revision. */
import type { CodedChange } from '../../../shared/policy/changes/change-codes.ts';
import type { Author } from '../../api/caller.ts';
import { recordAudit } from '../../policy/audit/audit-store.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { isManual } from './client-record.ts';
import type { StoredClient } from './client-record.ts';

/** A client before and after a change by a user; null = the client does not exist. */
export interface ClientChange {
  readonly before: StoredClient | null;
  readonly after: StoredClient | null;
}

/**
 * Writes the audit entry for a change that creates no revision: a change of a client that was only seen, or of the
 * address of a client that is identified by its MAC.
 */
export async function auditOutside(
  tx: Queryable,
  actor: Author,
  { subject, action }: CodedChange,
  change: ClientChange,
): Promise<void> {
  const inRevisions = [change.before, change.after].map((client) => JSON.stringify(inRevision(client)));
  if (inRevisions[0] !== inRevisions[1]) return;
  const [before, after] = [givenOf(change.before), givenOf(change.after)];
  if (JSON.stringify(before) !== JSON.stringify(after))
    await recordAudit(tx, { actor, action, subject, before, after });
}

/** Settings of a client in the form of the SQL function `client_settings`. */
function inRevision(client: StoredClient | null): Record<string, unknown> | null {
  if (client === null || !isManual(client)) return null;
  return givenOf(client.mac === null ? client : { ...client, ip: null });
}

function givenOf(client: StoredClient | null): Record<string, unknown> | null {
  if (client === null) return null;
  const { id, ip, mac, key, name, groupId, deviceId, excludeFromLog, excludeFromStats } = client;
  return {
    ...{ id, ip_address: ip, mac_address: mac, client_key: key, name, group_id: groupId },
    ...(deviceId === null ? {} : { device_id: deviceId }),
    ...{ exclude_from_log: excludeFromLog, exclude_from_stats: excludeFromStats },
  };
}
