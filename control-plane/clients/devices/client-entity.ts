/**
 * A client as an entity of the API: the fields that its ETag covers, and how a client that is read, edited and sent
 * back is stored.
 */
import { IdParams } from '../../../shared/api/fields.ts';
import { Client, ClientUpdateBody } from '../../../shared/api/policy/clients-api.ts';
import type { ClientUpdate, GroupSource } from '../../../shared/api/policy/clients-api.ts';
import { entity } from '../../api/entity.ts';
import type { ClientDirectory } from './client-directory.ts';
import type { StoredClient } from './client-record.ts';
import * as store from './client-store.ts';

export const clientEntity = entity({
  path: '/clients/{id}',
  params: IdParams,
  answer: Client,
  body: ClientUpdateBody,
  read: async (db, { id }) => {
    const { mergedInto, merged } = await store.readMerged(db, id);
    return {
      ...writableFields(await store.readClient(db, id)),
      merged_into: mergedInto,
      merged: merged.map((part) => ({ ...UNKNOWN_PART, id: part })),
    };
  },
  // The address of a client that is identified by MAC or key, and a group that a network assigns, are not covered,
  // because they change without an edit.
  covers: (client) => ({
    ip_address: (client.mac_address ?? client.client_key) === null ? client.ip_address : null,
    // A part has these fields from the client to which it belongs.
    ...((client.merged_into ?? null) !== null && OF_CLIENT),
    group_id: (client.merged_into ?? null) === null && isChosen(client.group_source) ? client.group_id : null,
    group_source: null,
    merged_into: client.merged_into ?? null,
    merged: client.merged?.map(({ id }) => id),
  }),
});

/** Replaces a part of a client of which the ETag only covers the id. */
const UNKNOWN_PART = {
  ...{ ip_address: null, mac_address: null, vendor: null, private_address: false },
  ...{ client_key: null, hostname: null, last_seen: null },
};
const OF_CLIENT = { name: null, exclude_from_log: false, exclude_from_stats: false };

/** The stored fields of a client that users can set. */
function writableFields(client: StoredClient): Partial<Client> {
  const { ip, mac, key, name, groupId, excludeFromLog, excludeFromStats } = client;
  const group = groupId === null ? {} : ({ group_id: groupId, group_source: 'manual' } as const);
  const excluded = { exclude_from_log: excludeFromLog, exclude_from_stats: excludeFromStats };
  return { ip_address: ip, mac_address: mac, client_key: key, name, ...group, ...excluded };
}

/**
 * The group that a change assigns. If a client is sent back as it was read, the group of its network is not assigned to
 * it, because no user chose it; `group_source` in the body shows that the body was read before.
 */
export function changedGroup(
  clients: ClientDirectory,
  id: number,
  { group_source: source, ...change }: ClientUpdate,
): ClientUpdate {
  const record = clients.get(id);
  if (source === undefined || isChosen(source) || record === undefined) return change;
  const { group_id: groupId, ...others } = change;
  return groupId === clients.groupOf(record).groupId ? others : change;
}

/** Whether a user assigned the group to the client. */
function isChosen(source: GroupSource | undefined): boolean {
  return source === 'manual' || source === 'mac';
}
