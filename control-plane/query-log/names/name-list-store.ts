/** SQL of the lists of names and clients. */
import type { LentClient, Queryable } from '../../db/database.ts';
import type { ListRange } from './list-parts.ts';
import type { ListGrain } from './list-span.ts';
import type { StoredList } from './name-list.ts';

/** What a list is of. */
export interface ListKey {
  readonly grain: ListGrain;
  /** Unix milliseconds. */
  readonly startMs: number;
  readonly nodeId: number;
}

/** Both lists of a span. */
export interface NameLists {
  /** Counted in them, also those for names that were dropped. */
  readonly queries: number;
  readonly names: StoredList;
  readonly clients: StoredList;
}

/** What SQL can see of a list. */
export interface ListFigures {
  readonly entries: number;
  readonly unseen: number;
}

/** Key of the advisory lock of who adds to the lists of a node; the second number is the node's. */
const LOCK_KEY = 0x77_65_69_74;

/** Whether the caller alone may add to the lists of a node until its transaction ends. */
export async function lockLists(client: LentClient, nodeId: number): Promise<boolean> {
  const { rows } = await client.query<{ is_ours: boolean }>(
    'SELECT pg_try_advisory_xact_lock($1::integer, $2::integer) AS is_ours',
    [LOCK_KEY, nodeId],
  );
  return rows[0]!.is_ours;
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

/** Lists of one kind with what they are of. */
export interface FoundList extends ListKey, StoredList {}

/** Which lists. */
export interface ListRequest {
  readonly ranges: readonly ListRange[];
  readonly nodeId?: number | undefined;
  readonly kind: 'names' | 'clients';
}

/** Lists fetched at once. */
const MOST_FETCHED = 16;

/** The lists of some spans, a few at a time. */
export async function* scanLists(
  tx: Queryable,
  { ranges, nodeId, kind }: ListRequest,
): AsyncGenerator<FoundList> {
  if (ranges.length === 0) return;
  const spans = ranges.map(
    (_, i) => `(grain = $${i * 3 + 6} AND start >= $${i * 3 + 7} AND start < $${i * 3 + 8})`,
  );
  const bounds = ranges.flatMap(({ grain, fromMs, toMs }) => [grain, new Date(fromMs), new Date(toMs)]);
  let after: FoundRow | undefined;
  do {
    const { rows }: { rows: FoundRow[] } = await tx.query<FoundRow>(
      `SELECT grain, start, node_id, ${kind} AS bytes, ${kind}_checksum AS checksum FROM query_names
       WHERE (${spans.join(' OR ')}) AND ($1::integer IS NULL OR node_id = $1)
         AND ($2::"char" IS NULL OR (grain, start, node_id) > ($2, $3::timestamptz, $4::integer))
       ORDER BY grain, start, node_id LIMIT $5`,
      [
        nodeId ?? null,
        after?.grain ?? null,
        after?.start ?? null,
        after?.node_id ?? null,
        MOST_FETCHED,
        ...bounds,
      ],
    );
    for (const { grain, start, node_id, bytes, checksum } of rows)
      yield { grain, startMs: start.getTime(), nodeId: node_id, bytes, checksum };
    after = rows.length < MOST_FETCHED ? undefined : rows.at(-1);
  } while (after !== undefined);
}

interface FoundRow {
  readonly grain: ListGrain;
  readonly start: Date;
  readonly node_id: number;
  readonly bytes: Buffer;
  readonly checksum: number;
}

/** Which of some days have lost their blocks, so that only their lists are left; by their starts, Unix milliseconds. */
export async function readAloneDays(tx: Queryable, startsMs: readonly number[]): Promise<Set<number>> {
  const { rows } = await tx.query<{ start: Date }>(
    `SELECT start FROM query_names WHERE grain = 'd' AND is_alone AND start = ANY($1::timestamptz[])`,
    [startsMs.map((ms) => new Date(ms))],
  );
  return new Set(rows.map(({ start }) => start.getTime()));
}

/** A list as reports name it. */
export function labelOf({ grain, startMs, nodeId }: ListKey): string {
  return `${grain} ${new Date(startMs).toISOString()} ${nodeId}`;
}

/** Stores the lists of a span in the place of what is there. */
export async function writeLists(
  client: LentClient,
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
