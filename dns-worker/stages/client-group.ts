/** The group of the client, by its key or its address; all later stages need the group. */
import { exclusionOf, isAdmitted, recordOf } from '../../shared/snapshot/client-table.ts';
import { keyedEntry } from '../../shared/snapshot/keyed-clients.ts';
import type { ClientSightings } from '../report/sighting-writer.ts';
import type { Query } from '../query/query.ts';
import type { Newcomers } from '../policy/newcomers.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';

/**
 * Finds the client's group, whether the client is allowed, and whether its queries are excluded from the log or
 * statistics; counts the query for the client if `sightings` is given.
 */
export function clientGroupStage(
  query: Query,
  snapshot: OpenSnapshot,
  sightings: ClientSightings | null,
  newcomers: Newcomers,
): void {
  const { clients, policy } = snapshot;
  query.identity = null;
  const entry =
    sightings === null ? find(query, snapshot, newcomers) : sightings.count(query, snapshot, newcomers);
  const record = recordOf(entry);
  query.isAdmitted = isAdmitted(entry);
  query.exclusion = exclusionOf(entry);
  query.clientRecord = record;
  query.groupIndex = clients.groupIndexOf(record);
  query.groupId = policy.groupId(query.groupIndex);
}

/** Describes how the group was found, and the client's key; for explanations. */
export function clientDetail({ clientRecord, clientKey, keyed }: Query, { clients }: OpenSnapshot): string {
  const { source, prefix } = clients.describe(clientRecord);
  if (source === 'key') return `key ${clientKey}`;
  const detail = prefix === null ? source : `${source} ${prefix}`;
  if (clientKey === '') return detail;
  return `${detail} (${keyed === null ? 'no client has the key' : 'the client of this key has no group:'} ${clientKey})`;
}

/**
 * A key outranks the address; a key without a client, or with a client that has no group, does not affect the group.
 */
function find(query: Query, snapshot: OpenSnapshot, newcomers: Newcomers): number {
  query.keyed = query.clientKey === '' ? null : snapshot.keys.find(query.clientKey);
  const entry = newcomers.entryOf(query, snapshot);
  return query.keyed === null ? entry : keyedEntry(query.keyed, entry);
}
