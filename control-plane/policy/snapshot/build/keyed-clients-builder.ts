/**
 * Converts clients with keys to the form that DNS threads read. Their records are the first in the client table, in the
 * order of the rows; this module and the builder of the client table therefore need no data from each other.
 */
import { type KeyedClient, writeKeyedClients } from '../../../../shared/snapshot/keyed-clients.ts';
import { Exclusion } from '../../../../shared/query-log.ts';
import { admitsKey, type Access } from '../../../../shared/policy/access.ts';
import type { PolicyKeyedClient, PolicyRows } from '../../change/rows.ts';

/** Clients that have a record in the client table. */
export function withGroups(clients: PolicyRows['keyedClients']): (PolicyKeyedClient & { groupId: number })[] {
  return clients.flatMap((client) => (client.groupId === null ? [] : { ...client, groupId: client.groupId }));
}

/** Writes clients with keys to shared memory. */
export function buildKeyedClients({ keyedClients }: PolicyRows, access: Access): SharedArrayBuffer {
  let records = 0;
  const clients = keyedClients.map(({ key, clientId, groupId, name, mac, exclusion }): KeyedClient => ({
    key,
    clientId,
    record: groupId === null ? 0 : ++records,
    admits: access.blockedKeys.includes(key) ? false : admitsKey(key) ? true : null,
    exclusion: exclusion ?? Exclusion.NONE,
    names: [name?.toLowerCase(), mac, key].filter((one) => typeof one === 'string'),
  }));
  return writeKeyedClients(clients, Math.random());
}

/** Whether both inputs would give the same result, because all relevant fields are equal. */
export function areSameKeyed(a: PolicyRows['keyedClients'], b: PolicyRows['keyedClients']): boolean {
  return (
    a === b ||
    (a.length === b.length && a.every((client, index) => JSON.stringify(client) === JSON.stringify(b[index])))
  );
}
