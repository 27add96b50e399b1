/**
 * What a resolve thread stores per client: as every thread by address, and queries with the key of a client for that
 * client, whatever their address. The thread that answers batches of UDP, where nothing has a key, has no such class.
 */
import { KEYED_SIGHTING } from '../../shared/memory/sighting-layout.ts';
import { isAdmitted } from '../../shared/snapshot/client-table.ts';
import { keyedEntry } from '../../shared/snapshot/keyed-clients.ts';
import type { Query } from '../query/query.ts';
import type { Newcomers } from '../policy/newcomers.ts';
import { ClientSightings, type SightingSnapshot } from './sighting-writer.ts';

/** Write side of a resolve thread's sightings. */
export class KeyedSightings extends ClientSightings {
  override count(query: Query, snapshot: SightingSnapshot, newcomers: Newcomers): number {
    const keyed = query.clientKey === '' ? null : snapshot.keys.find(query.clientKey);
    query.keyed = keyed;
    if (keyed === null) return super.count(query, snapshot, newcomers);
    const entry = keyedEntry(keyed, newcomers.entryOf(query, snapshot));
    if (!isAdmitted(entry)) return entry;
    this.countAt(this.slotFor(KEYED_SIGHTING, keyed.clientId, 0, 0, query.arrivedSecs), query.arrivedSecs);
    return entry;
  }
}
