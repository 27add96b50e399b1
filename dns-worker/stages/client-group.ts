/** The group of the client, by its address; every later stage asks on behalf of it. */
import { addressWord } from '../../shared/net/ip.ts';
import type { ClientSightings } from '../report/sighting-writer.ts';
import type { Query } from '../query/query.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';

/** Finds the client's group, and counts the query as the client's. */
export function clientGroupStage(query: Query, snapshot: OpenSnapshot, sightings: ClientSightings): void {
  setGroup(query, snapshot, sightings.count(query, snapshot.clients, snapshot.version));
}

/** The same without counting, for a query that the client did not send or that was counted before. */
export function findClientGroup(query: Query, snapshot: OpenSnapshot): void {
  const { clientBytes, clientAt } = query;
  const record = snapshot.clients.find(
    addressWord(clientBytes, clientAt),
    addressWord(clientBytes, clientAt + 4),
    addressWord(clientBytes, clientAt + 8),
    addressWord(clientBytes, clientAt + 12),
  );
  setGroup(query, snapshot, record);
}

function setGroup(query: Query, snapshot: OpenSnapshot, record: number): void {
  query.clientRecord = record;
  query.groupIndex = snapshot.clients.groupIndexOf(record);
  query.groupId = snapshot.policy.groupId(query.groupIndex);
}
