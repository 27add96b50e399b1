/** Clears whole days of the log in one step, and the top lists of names and clients whose rows no longer exist. */
import type { Database, Queryable } from '../../storage/db/database.ts';
import type { ClearScope } from '../search/cut-block.ts';
import { DAY_MS } from '../store/block-gatherer.ts';
import { noteRemoved } from '../store/late-rows.ts';
import { LOCK_KEY, partitionOf } from '../store/partition-store.ts';
import { readClientText } from '../top-lists/client-text.ts';
import { KeyTable } from '../top-lists/key-table.ts';
import { startOf } from '../top-lists/list-parts.ts';
import { awaitLists, readLists } from '../top-lists/name-list-store.ts';
import { openLists, subtractFromLists, type Tally } from '../top-lists/subtract-lists.ts';

/** Microseconds per day. */
const DAY_US = 86_400_000_000;

/** A top list of a day. */
interface DayList {
  readonly day: number;
  readonly node_id: number;
}

const DAY_OF_START = `floor(extract(epoch FROM start) / 86400)::integer`;

/** Those of `days`, which have a partition, that overlap the span of a clear, oldest first. */
export function daysWithin(days: readonly number[], { fromUs, toUs }: ClearScope): number[] {
  return days.filter((day) => (day + 1) * DAY_US > fromUs && day * DAY_US < toUs);
}

/** Whether a clear removes a whole day for all clients. */
export function takesDay({ fromUs, toUs, device }: ClearScope, day: number): boolean {
  return device === null && fromUs <= day * DAY_US && (day + 1) * DAY_US <= toUs;
}

/**
 * Deletes a day with all its top lists, and subtracts the day from the lists of its month, in one transaction. Days
 * count from 1970-01-01 in UTC.
 */
export async function clearDay(
  database: Database,
  day: number,
  clearId: number,
  blocks: number,
): Promise<void> {
  await database.transactionAsOwner(async (tx) => {
    // A long export may lock the table, and other statements would queue behind this one. With the timeout, this
    // statement fails and is retried later.
    await tx.query(`SET LOCAL lock_timeout = '2s'`);
    await tx.query('SELECT pg_advisory_xact_lock($1)', [LOCK_KEY]);
    const { rows } = await tx.query<{ is_there: boolean }>('SELECT to_regclass($1) IS NOT NULL AS is_there', [
      partitionOf(day),
    ]);
    if (!rows[0]!.is_there) return;
    const figures = await tx.query<{ rows: number; first_us: number | null; last_us: number | null }>(
      `SELECT coalesce(sum(row_count), 0)::bigint AS rows,
         (extract(epoch FROM min(first_time)) * 1000000)::bigint AS first_us,
         (extract(epoch FROM max(last_time)) * 1000000)::bigint AS last_us
       FROM ${partitionOf(day)} WHERE used_by <> 's'`,
    );
    await dropDayLists(tx, day);
    await tx.query(`DROP TABLE ${partitionOf(day)}`);
    const { rows: count, first_us: firstUs, last_us: lastUs } = figures.rows[0]!;
    await noteRemoved(tx, clearId, { rows: count, firstUs: firstUs ?? 0, lastUs: lastUs ?? 0 }, blocks);
  });
}

/**
 * Clears top lists of days whose rows were deleted earlier: all lists of a day, or only the entries of one client.
 * Names that the client queried stay, because lists count names per group, not per client.
 */
export async function clearListsWithoutRows(database: Database, scope: ClearScope): Promise<void> {
  for (const { day, node_id: nodeId } of await listsWithoutRows(database, scope))
    await database.transaction(async (tx) => {
      if (scope.device === null) return dropDayLists(tx, day);
      await awaitLists(tx, nodeId);
      const startMs = day * DAY_MS;
      const list = openLists(await readLists(tx, { grain: 'd', startMs, nodeId }));
      if (list === null) return;
      const gone = { queries: 0, names: new KeyTable(), clients: ofDevice(list.clients, scope.device) };
      if (gone.clients.size > 0) await subtractFromDay(tx, { startMs, nodeId }, gone);
    });
}

async function listsWithoutRows(db: Queryable, { fromUs, toUs }: ClearScope): Promise<DayList[]> {
  const { rows } = await db.query<DayList>(
    `SELECT ${DAY_OF_START} AS day, node_id FROM query_names
     WHERE grain = 'd' AND is_alone AND start >= to_timestamp($1::double precision / 1000000)
       AND start + interval '1 day' <= to_timestamp($2::double precision / 1000000) ORDER BY start, node_id`,
    [fromUs, toUs],
  );
  return rows;
}

/** Deletes the top lists of a day and of its hours, for all nodes, and subtracts them from the lists of the month. */
async function dropDayLists(tx: Queryable, day: number): Promise<void> {
  const startMs = day * DAY_MS;
  const { rows } = await tx.query<{ node_id: number }>(
    `SELECT node_id FROM query_names WHERE grain = 'd' AND start = $1 ORDER BY node_id`,
    [new Date(startMs)],
  );
  for (const { node_id: nodeId } of rows) {
    await awaitLists(tx, nodeId);
    const list = openLists(await readLists(tx, { grain: 'd', startMs, nodeId }));
    const month = { grain: 'M', startMs: startOf('M', startMs), nodeId } as const;
    if (list !== null) await subtractFromLists(tx, month, list);
  }
  await tx.query(`DELETE FROM query_names WHERE grain IN ('h', 'd') AND start >= $1 AND start < $2`, [
    new Date(startMs),
    new Date(startMs + DAY_MS),
  ]);
  await tx.query(`DELETE FROM query_names WHERE grain = 'M' AND start = $1 AND queries = 0`, [
    new Date(startOf('M', startMs)),
  ]);
}

async function subtractFromDay(
  tx: Queryable,
  { startMs, nodeId }: { readonly startMs: number; readonly nodeId: number },
  gone: Tally,
): Promise<void> {
  for (const grain of ['d', 'M'] as const)
    await subtractFromLists(tx, { grain, startMs: startOf(grain, startMs), nodeId }, gone);
}

/** The entries of one client. */
function ofDevice(clients: KeyTable, { ids, addresses }: NonNullable<ClearScope['device']>): KeyTable {
  const known = new Set(addresses);
  const found = new KeyTable();
  for (let place = 0; place < clients.size; place++) {
    const { address, clientId } = readClientText(clients.text(place));
    if (clientId === null ? !known.has(address) : !ids.includes(clientId)) continue;
    const start = clients.starts[place]!;
    const to = found.place(clients.bytes, start, clients.starts[place + 1]! - start, clients.tags[place]!);
    for (const column of ['resolved', 'blocked', 'other'] as const)
      found[column][to]! += clients[column][place]!;
  }
  return found;
}
