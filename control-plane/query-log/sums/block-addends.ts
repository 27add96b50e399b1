/** What a block adds to the sums of a period: all its queries, or some. */
import { clientText } from '../names/client-text.ts';
import type { BlockReader } from '../block/block-reader.ts';
import type { BlockHead } from '../block/block-layout.ts';
import { isBlockedStatus, QueryStatus } from '../../../shared/query-log.ts';
import type { Addend } from '../names/kept-sums.ts';
import type { KnownNames } from '../names/name-book.ts';
import type { ListKind } from '../names/name-list-store.ts';
import type { LogMemory } from '../search/log-memory.ts';
import type { KnownBlock } from '../search/stored-block.ts';

/** All queries of a block, by what is remembered of it; undefined if that does not suffice. */
export function addendOfKnown(
  memory: LogMemory,
  kind: ListKind,
  known: KnownBlock | undefined,
): Addend | undefined {
  if (kind === 'names') return known?.names && addendOfNames(known.names);
  if (known === undefined) return undefined;
  const { clients } = known.head;
  const repeats = allRepeatsByClient(known.head);
  const list = memory.takeClients(
    clients.map(clientText),
    Uint32Array.from(
      clients,
      ([, , queries, blocked], client) => queries - blocked + (repeats?.[client] ?? 0),
    ),
    Uint32Array.from(clients, ([, , , blocked]) => blocked),
  );
  return list === null ? undefined : { list };
}

/** Queries that rows stand for beyond themselves, by place of their client; null: none does. */
export function allRepeatsByClient({ clients, repeats }: BlockHead): Uint32Array | null {
  if (repeats === null) return null;
  const counts = new Uint32Array(clients.length);
  repeats.clients.forEach((client, entry) => (counts[client]! += repeats.queries[entry]!));
  return counts;
}

/** All rows of a block by name. */
export function addendOfNames(names: KnownNames): Addend {
  return { names, queries: names.counts };
}

/** Some rows of a block by name; of the names that they are for only. @throws {DamagedBlock} */
export function namesOfRows(names: KnownNames, reader: BlockReader, rows: readonly number[]): Addend {
  const counts = countPlaces(reader.nameOf(), rows, names.places.length);
  const asked = names.places
    .keys()
    .filter((name) => counts[name]! > 0)
    .toArray();
  const part = {
    book: names.book,
    places: Uint32Array.from(asked, (name) => names.places[name]!),
    classes: Uint8Array.from(asked, (name) => names.classes[name]!),
  };
  return { names: part, queries: Uint32Array.from(asked, (name) => counts[name]!) };
}

/**
 * Some queries of a block by client: rows, and by place of the client what they stand for beyond themselves. Null where
 * there is no room for its clients. @throws {DamagedBlock}
 */
export function clientsOfRows(
  memory: LogMemory,
  reader: BlockReader,
  rows: readonly number[],
  repeats: Uint32Array | null,
): Addend | null {
  const { clients, outcomes } = reader.head;
  const isBlocked = outcomes.map(([, status]) => isBlockedStatus(QueryStatus[status]));
  const outcomeOf = reader.outcomeOf();
  const blockedRows = rows.filter((row) => isBlocked[outcomeOf[row]!]);
  const queries = countPlaces(reader.clientOf(), rows, clients.length);
  const blocked = countPlaces(reader.clientOf(), blockedRows, clients.length);
  const resolved = queries.map((count, client) => count - blocked[client]! + (repeats?.[client] ?? 0));
  const list = memory.takeClients(clients.map(clientText), resolved, blocked);
  return list === null ? null : { list };
}

/** How often each place occurs. */
export function countPlaces(places: Uint16Array, rows: readonly number[], count: number): Uint32Array {
  const counts = new Uint32Array(count);
  for (const row of rows) counts[places[row]!]!++;
  return counts;
}
