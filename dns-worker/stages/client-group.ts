/** The group of the client, by its address; every later stage asks on behalf of it. */
import { addressWord } from '../../shared/net/ip.ts';
import type { ClientTable } from '../../shared/snapshot/client-table.ts';
import type { ClientSightings } from '../report/sighting-writer.ts';
import type { Query } from '../query/query.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';

/** Finds the client's group; counts the query for the client if `sightings` is given. */
export function clientGroupStage(
  query: Query,
  snapshot: OpenSnapshot,
  sightings: ClientSightings | null,
): void {
  const { clients, policy, version } = snapshot;
  const record = sightings === null ? find(query, clients) : sightings.count(query, clients, version);
  query.clientRecord = record;
  query.groupIndex = clients.groupIndexOf(record);
  query.groupId = policy.groupId(query.groupIndex);
}

/** Describes the record that gave the client its group. */
export function clientDetail({ clientRecord }: Query, { clients }: OpenSnapshot): string {
  const { source, prefix } = clients.describe(clientRecord);
  return prefix === null ? source : `${source} ${prefix}`;
}

function find({ clientBytes, clientAt }: Query, clients: ClientTable): number {
  return clients.find(
    addressWord(clientBytes, clientAt),
    addressWord(clientBytes, clientAt + 4),
    addressWord(clientBytes, clientAt + 8),
    addressWord(clientBytes, clientAt + 12),
  );
}
