/** SQL of the stored top lists of names and clients. */
import type { CopyQueryable, LentClient, Queryable } from '../../storage/db/database.ts';
import type { ListGrain, ListRange } from './list-parts.ts';
import type { StoredList } from './name-list.ts';

/** Identifies the top lists of one span. */
export interface ListKey {
  readonly grain: ListGrain;
  /** Unix milliseconds. */
  readonly startMs: number;
  readonly nodeId: number;
}

/** The list of names and the list of clients of one span. */
export interface NameLists {
  /** Number of queries counted, including queries for names that are no longer in the list. */
  readonly queries: number;
  readonly names: StoredList;
  readonly clients: StoredList;
}

/** Figures of a list that are stored in separate columns. */
export interface ListFigures {
  readonly entries: number;
  readonly unseen: number;
}

/** Key of the advisory lock for changing the lists of a node; the second part of the key is the node's id. */
const LOCK_KEY = 0x77_65_69_74;

/**
 * Tries to get exclusive access to the lists of a node until the end of the transaction; returns whether it succeeded.
 */
export async function lockLists(client: LentClient, nodeId: number): Promise<boolean> {
  const { rows } = await client.query<{ is_ours: boolean }>(
    'SELECT pg_try_advisory_xact_lock($1::integer, $2::integer) AS is_ours',
    [LOCK_KEY, nodeId],
  );
  return rows[0]!.is_ours;
}

/** Waits for exclusive access to the lists of a node, which lasts until the end of the transaction. */
export async function awaitLists(tx: Queryable, nodeId: number): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1::integer, $2::integer)', [LOCK_KEY, nodeId]);
}

/** The lists of one span; null if there are none. */
export async function readLists(
  tx: Queryable,
  { grain, startMs, nodeId }: ListKey,
): Promise<NameLists | null> {
  const { rows } = await tx.query<ListRow>(
    `SELECT ${COLUMNS} FROM query_names WHERE grain = $1 AND start = $2 AND node_id = $3`,
    [grain, new Date(startMs), nodeId],
  );
  return rows[0] === undefined ? null : toLists(rows[0]);
}

/** Kind of the keys that a top list counts. */
export type ListKind = 'names' | 'clients';

/** A stored top list without its content. */
export interface ListPlace extends ListKey {
  readonly queries: number;
  readonly checksum: number;
}

/** A list with its span and its content. */
export interface FoundList extends ListPlace, StoredList {}

/** Selects top lists. */
export interface ListRequest {
  readonly ranges: readonly ListRange[];
  readonly nodeId?: number | undefined;
  readonly kind: ListKind;
}

/** Number of lists that are fetched together. */
const MAX_FETCHED = 16;

/** Finds the lists of these spans, without content. */
export async function findLists(tx: Queryable, { ranges, nodeId, kind }: ListRequest): Promise<ListPlace[]> {
  if (ranges.length === 0) return [];
  const spans = ranges.map(
    (_, i) => `(grain = $${i * 3 + 2} AND start >= $${i * 3 + 3} AND start < $${i * 3 + 4})`,
  );
  const bounds = ranges.flatMap(({ grain, fromMs, toMs }) => [grain, new Date(fromMs), new Date(toMs)]);
  const { rows } = await tx.query<FoundRow>(
    `SELECT grain, (extract(epoch FROM start) * 1000)::bigint AS "startMs", node_id, queries,
       ${kind}_checksum AS checksum FROM query_names
     WHERE (${spans.join(' OR ')}) AND ($1::integer IS NULL OR node_id = $1) ORDER BY grain, start, node_id`,
    [nodeId ?? null, ...bounds],
  );
  return rows.map(toPlace);
}

interface FoundRow {
  readonly grain: ListGrain;
  readonly startMs: number;
  readonly node_id: number;
  readonly queries: number;
  readonly checksum: number;
}

function toPlace({ grain, startMs, node_id, queries, checksum }: FoundRow): ListPlace {
  return { grain, startMs, nodeId: node_id, queries, checksum };
}

/** Fetches the content of these lists, a few at a time. */
export async function* fetchLists(
  tx: CopyQueryable,
  kind: ListKind,
  places: readonly ListPlace[],
): AsyncGenerator<FoundList> {
  for (let from = 0; from < places.length; from += MAX_FETCHED) {
    const some = places.slice(from, from + MAX_FETCHED);
    const values = some.map(
      ({ grain, startMs, nodeId }, i) =>
        `(${i}, '${grain}'::"char", to_timestamp(${startMs / 1000}), ${nodeId})`,
    );
    const rows = await tx.copyOut(
      `SELECT v.i, list.${kind} FROM (VALUES ${values.join(',')}) AS v (i, grain, start, node_id)
       JOIN query_names AS list ON list.grain = v.grain AND list.start = v.start AND list.node_id = v.node_id`,
    );
    for (const [i, bytes] of rows) yield { ...some[i!.readInt32BE()]!, bytes: bytes! };
  }
}

/** The days among `startsMs` of which only the lists remain, because their blocks were deleted. */
export async function readDaysWithoutBlocks(
  tx: Queryable,
  startsMs: readonly number[],
): Promise<Set<number>> {
  const { rows } = await tx.query<{ start: Date }>(
    `SELECT start FROM query_names WHERE grain = 'd' AND is_alone AND start = ANY($1::timestamptz[])`,
    [startsMs.map((ms) => new Date(ms))],
  );
  return new Set(rows.map(({ start }) => start.getTime()));
}

/** The name of a list in error reports. */
export function labelOf({ grain, startMs, nodeId }: ListKey): string {
  return `${grain} ${new Date(startMs).toISOString()} ${nodeId}`;
}

/** Stores the lists of a span, replacing existing ones. */
export async function writeLists(
  client: Queryable,
  { grain, startMs, nodeId }: ListKey,
  { queries, names, clients }: NameLists,
  figures: { readonly names: ListFigures; readonly clients: ListFigures },
): Promise<void> {
  await client.query(
    `INSERT INTO query_names (grain, start, node_id, queries, name_entries, names_unseen, client_entries,
       clients_unseen, names_checksum, clients_checksum, names, clients)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     ON CONFLICT (grain, start, node_id) DO UPDATE SET queries = excluded.queries,
       name_entries = excluded.name_entries, names_unseen = excluded.names_unseen,
       client_entries = excluded.client_entries, clients_unseen = excluded.clients_unseen,
       names_checksum = excluded.names_checksum, clients_checksum = excluded.clients_checksum,
       names = excluded.names, clients = excluded.clients`,
    [
      ...[grain, new Date(startMs), nodeId, queries],
      ...[figures.names.entries, figures.names.unseen, figures.clients.entries, figures.clients.unseen],
      ...[names.checksum, clients.checksum, names.bytes, clients.bytes],
    ],
  );
}

interface ListRow {
  readonly queries: number;
  readonly names: Buffer;
  readonly clients: Buffer;
  readonly names_checksum: number;
  readonly clients_checksum: number;
}

const COLUMNS = 'queries, names, clients, names_checksum, clients_checksum';

function toLists(row: ListRow): NameLists {
  return {
    queries: row.queries,
    names: { bytes: row.names, checksum: row.names_checksum },
    clients: { bytes: row.clients, checksum: row.clients_checksum },
  };
}
