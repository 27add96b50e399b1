/** Changes of clients for the audit log. Pure. */
import type { ChangedRow } from '../../policy/change/change.ts';
import type { StoredClient } from './client-record.ts';

/** What people set of a client, before and after; none if that is the same. */
export function changedRow(before: StoredClient | null, after: StoredClient | null): ChangedRow[] {
  const [was, is] = [before, after].map((client) => (client === null ? null : setByPeople(client)));
  const key = String((after ?? before)!.id);
  const isChanged = JSON.stringify(was) !== JSON.stringify(is);
  return isChanged ? [{ table: 'clients', key, before: was!, after: is! }] : [];
}

function setByPeople({ id, ip, mac, key, name, groupId, ...others }: StoredClient): Record<string, unknown> {
  const exclusions = {
    exclude_from_log: others.excludeFromLog,
    exclude_from_stats: others.excludeFromStats,
  };
  return { id, ip_address: ip, mac_address: mac, client_key: key, name, group_id: groupId, ...exclusions };
}
