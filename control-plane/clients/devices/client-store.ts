/** SQL of `clients`: single changes by users, and batches of sightings. */
import type { ClientCreate, ClientUpdate } from '../../../shared/api/policy/clients-api.ts';
import { conflict, invalid, notFound } from '../../api/api-error.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../../storage/db/database-errors.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { isPart } from '../parts/device-parts.ts';
import { LAST_REVISION, NOTED_NOW } from '../../policy/change/noted-now.ts';
import type { ChangedClients, ClientRecord, StoredClient } from './client-record.ts';

/** A row as it is read. */
export interface ClientRow {
  readonly id: number;
  readonly ip: string | null;
  readonly mac: string | null;
  readonly key: string | null;
  readonly addresses: string[];
  readonly site: string;
  readonly hostname: string | null;
  readonly name: string | null;
  readonly group_id: number | null;
  readonly device_id: number | null;
  readonly acknowledged: boolean;
  readonly first_seen: Date | null;
  readonly last_seen: Date | null;
  readonly query_count: string;
  readonly exclude_from_log: boolean;
  readonly exclude_from_stats: boolean;
}

/** Columns of `ClientRow`. */
export const COLUMNS = `id, host(ip_address) AS ip, mac_address::text AS mac, client_key AS key,
  ARRAY(SELECT host(a) FROM unnest(addresses) a) AS addresses, site, hostname, name, group_id, device_id, acknowledged, first_seen, last_seen,
  query_count::text AS query_count, exclude_from_log, exclude_from_stats`;

/** SQL condition that a client has no name, group, key or exclusion, and was not merged. */
const UNTOUCHED = `clients.group_id IS NULL AND clients.name IS NULL AND clients.client_key IS NULL AND clients.device_id IS NULL
  AND NOT clients.exclude_from_log AND NOT clients.exclude_from_stats`;
/** SQL condition that a client is `UNTOUCHED` and has no grant or linked user, which would lose their client. */
const UNUSED = `${UNTOUCHED} AND NOT EXISTS (SELECT FROM grants WHERE client_id = clients.id)
  AND NOT EXISTS (SELECT FROM user_clients WHERE client_id = clients.id)`;

/** Clients with a name, group, key or exclusion, and the `limit` most recently seen of all other clients. */
export async function readClients(db: Queryable, limit: number): Promise<StoredClient[]> {
  const { rows } = await db.query<ClientRow>(
    `SELECT ${COLUMNS} FROM clients ORDER BY (${UNTOUCHED}), last_seen DESC NULLS LAST LIMIT $1`,
    [limit],
  );
  return rows.map(toClient);
}

async function readClientsById(db: Queryable, ids: readonly number[]): Promise<ChangedClients> {
  if (ids.length === 0) return { clients: [], goneClients: [] };
  const { rows } = await db.query<ClientRow>(`SELECT ${COLUMNS} FROM clients WHERE id = ANY ($1)`, [ids]);
  const there = new Set(rows.map(({ id }) => id));
  return { clients: rows.map(toClient), goneClients: ids.filter((id) => !there.has(id)) };
}

/** One client; throws 404 if it does not exist. */
export async function readClient(db: Queryable, id: number): Promise<StoredClient> {
  const { rows } = await db.query<ClientRow>(`SELECT ${COLUMNS} FROM clients WHERE id = $1`, [id]);
  return toClient(existing(rows[0], id));
}

/** The client of which a client is a part, and the ids of the client's own parts. */
export async function readMerged(
  db: Queryable,
  id: number,
): Promise<{ mergedInto: number | null; merged: number[] }> {
  const { rows } = await db.query<{ id: number; device_id: number }>(
    'SELECT id, device_id FROM clients WHERE device_id = $1 AND id <> $1 OR id = $1 AND device_id <> $1 ORDER BY id',
    [id],
  );
  const own = rows.find((row) => row.id === id);
  return {
    mergedInto: own?.device_id ?? null,
    merged: rows.filter((row) => row.id !== id).map((row) => row.id),
  };
}

/**
 * Stores a client with settings of a user. If the client was already seen, its row gets the settings. Throws 409 if the
 * row already has a name, group, key or exclusion, or if another client has the key, and 400 for an unknown group.
 */
export async function insertClient(db: Queryable, client: ClientCreate): Promise<StoredClient> {
  const { ip_address: ip, mac_address: mac, client_key: key } = client;
  const knownBy =
    mac !== null ? '(mac_address)' : ip !== null ? '(ip_address) WHERE mac_address IS NULL' : '(client_key)';
  const text = `INSERT INTO clients (ip_address, mac_address, name, group_id, client_key, exclude_from_log, exclude_from_stats)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT ${knownBy} DO UPDATE SET ip_address = coalesce(excluded.ip_address, clients.ip_address),
      name = excluded.name, group_id = excluded.group_id, client_key = excluded.client_key,
      exclude_from_log = excluded.exclude_from_log, exclude_from_stats = excluded.exclude_from_stats
    WHERE ${UNTOUCHED} RETURNING ${COLUMNS}`;
  const { exclude_from_log: unlogged, exclude_from_stats: uncounted } = client;
  const values = [ip, mac, client.name, client.group_id, key, unlogged, uncounted];
  const { rows } = await refusingBadClients(() => db.query<ClientRow>(text, values));
  if (rows[0] === undefined) throw conflict(`a client with ${mac ?? ip ?? key} already exists`);
  return toClient(rows[0]);
}

/**
 * Changes the given fields; throws 404 for an unknown client, 409 for a MAC, address or key of another client, and 400
 * for an unknown group.
 */
export async function updateClient(db: Queryable, id: number, change: ClientUpdate): Promise<StoredClient> {
  const before = await readClient(db, id);
  if (isPart(before))
    throw conflict(
      `the client is part of client ${before.deviceId}; change that client, or split this one off`,
    );
  const ip = change.ip_address === undefined ? before.ip : change.ip_address;
  const mac = change.mac_address === undefined ? before.mac : change.mac_address;
  const key = change.client_key === undefined ? before.key : change.client_key;
  const name = change.name === undefined ? before.name : change.name;
  const groupId = change.group_id === undefined ? before.groupId : change.group_id;
  if (ip === null && mac === null && key === null)
    throw invalid([{ path: 'ip_address', message: 'expected an address, a MAC or a key' }]);
  const unlogged = change.exclude_from_log ?? before.excludeFromLog;
  const uncounted = change.exclude_from_stats ?? before.excludeFromStats;
  const text = `UPDATE clients SET ip_address = $2, mac_address = $3, name = $4, group_id = $5, client_key = $6,
      exclude_from_log = $7, exclude_from_stats = $8
    WHERE id = $1 RETURNING ${COLUMNS}`;
  const { rows } = await refusingBadClients(() =>
    db.query<ClientRow>(text, [id, ip, mac, name, groupId, key, unlogged, uncounted]),
  );
  return toClient(existing(rows[0], id));
}

/** Removes all clients from a group; they get the group of their network, or Default. */
export async function releaseClients(db: Queryable, groupId: number): Promise<void> {
  await db.query('UPDATE clients SET group_id = NULL WHERE group_id = $1', [groupId]);
}

/** The clients whose settings this transaction has changed. */
export async function changedClients(tx: Queryable): Promise<ChangedClients> {
  const { rows } = await tx.query<{ id: number }>(
    `SELECT DISTINCT key::integer AS id FROM policy_changes
      WHERE table_name = 'clients' AND seq > ${LAST_REVISION} AND ${NOTED_NOW}`,
  );
  return readClientsById(
    tx,
    rows.map(({ id }) => id),
  );
}

/**
 * All clients that have settings by users or were acknowledged, and the clients with ids in `others`, which had
 * settings before.
 */
export async function readSetClients(db: Queryable, others: readonly number[]): Promise<ChangedClients> {
  const { rows } = await db.query<{ id: number }>(
    `SELECT id FROM clients WHERE NOT (${UNTOUCHED}) OR acknowledged`,
  );
  return readClientsById(db, [...new Set([...rows.map(({ id }) => id), ...others])]);
}

/** Acknowledges clients; returns those that were not acknowledged before. Throws 400 for unknown clients. */
export async function acknowledgeClients(tx: Queryable, ids: readonly number[]): Promise<StoredClient[]> {
  const { rows: found } = await tx.query<{ id: number }>(
    'SELECT id FROM clients WHERE id = ANY($1::integer[])',
    [ids],
  );
  const known = new Set(found.map(({ id }) => id));
  const unknown = ids.flatMap((id, index) => (known.has(id) ? [] : [`client_ids.${index}`]));
  if (unknown.length > 0)
    throw invalid(unknown.map((path) => ({ path, message: 'expected the id of a client' })));
  const text = `UPDATE clients SET acknowledged = true WHERE id = ANY($1::integer[]) AND NOT acknowledged
    RETURNING ${COLUMNS}`;
  return (await tx.query<ClientRow>(text, [ids])).rows.map(toClient);
}

/** Deletes a client and returns its last state; throws 404 if it does not exist. */
export async function deleteClient(db: Queryable, id: number): Promise<StoredClient> {
  const { rows } = await db.query<ClientRow>(`DELETE FROM clients WHERE id = $1 RETURNING ${COLUMNS}`, [id]);
  return toClient(existing(rows[0], id));
}

/** Deletes clients without a name, group, key, exclusion, grant or user. */
export async function deleteUntouched(db: Queryable, ids: readonly number[]): Promise<void> {
  await db.query(`DELETE FROM clients WHERE id = ANY($1::integer[]) AND ${UNUSED}`, [ids]);
}

/**
 * Deletes clients without a name, group, key, exclusion, grant or user that were not seen since `beforeMs`; returns
 * their ids.
 */
export async function deleteUnseen(db: Queryable, beforeMs: number): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `DELETE FROM clients WHERE ${UNUSED} AND last_seen < $1 RETURNING id`,
    [new Date(beforeMs)],
  );
  return rows.map(({ id }) => id);
}

/** Period in which clients were last seen; null = unlimited. */
export interface SeenSpan {
  readonly from: Date | null;
  readonly to: Date | null;
}

const WITHIN = `($1::timestamptz IS NULL OR last_seen >= $1) AND ($2::timestamptz IS NULL OR last_seen < $2)`;

/** Counts clients of a period: those that were only seen, and those with a name, group, key, exclusion or grant. */
export async function countSeen(
  db: Queryable,
  { from, to }: SeenSpan,
): Promise<{ left: number; kept: number }> {
  const { rows } = await db.query<{ left: number; kept: number }>(
    `SELECT count(*) FILTER (WHERE ${UNUSED})::integer AS left, count(*) FILTER (WHERE NOT (${UNUSED}))::integer AS kept
     FROM clients WHERE ${WITHIN}`,
    [from, to],
  );
  return rows[0]!;
}

/** Deletes clients of a period that were only seen; returns their ids. */
export async function deleteSeen(db: Queryable, { from, to }: SeenSpan): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `DELETE FROM clients WHERE ${UNUSED} AND ${WITHIN} RETURNING id`,
    [from, to],
  );
  return rows.map(({ id }) => id);
}

/** SQL of the columns of records in the statements below. */
const SEEN_COLUMNS =
  'ip inet, mac macaddr, addresses inet[], site text, hostname text, first timestamptz, last timestamptz, queries bigint';
const SEEN = `jsonb_to_recordset($1::jsonb) AS v(id integer, ${SEEN_COLUMNS})`;

/** Adds the sightings of stored clients. */
export async function addSightings(db: Queryable, records: readonly ClientRecord[]): Promise<void> {
  await db.query(
    `UPDATE clients c SET ip_address = CASE WHEN c.mac_address IS NULL THEN c.ip_address ELSE v.ip END,
       addresses = v.addresses, site = v.site, hostname = v.hostname, query_count = c.query_count + v.queries,
       first_seen = least(c.first_seen, v.first), last_seen = greatest(c.last_seen, v.last)
     FROM ${SEEN} WHERE c.id = v.id`,
    [JSON.stringify(records.map(seenOf))],
  );
}

/**
 * Stores clients that were seen for the first time, all of which must be identified by MAC, or all by address; returns
 * their rows in no particular order. If another node has already stored a client, the sightings are added to its row.
 */
export async function insertSeen(
  db: Queryable,
  records: readonly ClientRecord[],
  knownBy: 'mac' | 'ip',
): Promise<StoredClient[]> {
  const key = knownBy === 'mac' ? '(mac_address)' : '(ip_address) WHERE mac_address IS NULL';
  const { rows } = await db.query<ClientRow>(
    `INSERT INTO clients (ip_address, mac_address, addresses, site, hostname, first_seen, last_seen, query_count)
     SELECT v.ip, v.mac, v.addresses, v.site, v.hostname, v.first, v.last, v.queries FROM ${SEEN}
     ON CONFLICT ${key} DO UPDATE SET ip_address = coalesce(excluded.ip_address, clients.ip_address),
       addresses = excluded.addresses, site = excluded.site, hostname = coalesce(excluded.hostname, clients.hostname),
       first_seen = least(clients.first_seen, excluded.first_seen),
       last_seen = greatest(clients.last_seen, excluded.last_seen),
       query_count = clients.query_count + excluded.query_count
     RETURNING ${COLUMNS}`,
    [JSON.stringify(records.map(seenOf))],
  );
  return rows.map(toClient);
}

function seenOf(record: ClientRecord): object {
  const moment = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
  return {
    id: record.id,
    ip: record.ip,
    mac: record.mac,
    addresses: record.addresses,
    site: record.site,
    hostname: record.hostname,
    first: moment(record.firstSeenMs),
    last: moment(record.lastSeenMs),
    queries: record.newQueries,
  };
}

function existing(row: ClientRow | undefined, id: number): ClientRow {
  if (row === undefined) throw notFound(`client ${id}`);
  return row;
}

/**
 * Runs `work`; converts database errors: throws 409 for a MAC, address or key of another client, and 400 for an unknown
 * group.
 */
export async function refusingBadClients<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, 'clients_mac_key')) throw conflict('a client with this MAC already exists');
    if (isUniqueViolation(error, 'clients_key_key')) throw conflict('a client with this key already exists');
    if (isUniqueViolation(error, 'clients_ip_key'))
      throw conflict('a client with this address already exists');
    if (isForeignKeyViolation(error))
      throw invalid([{ path: 'group_id', message: 'expected the id of an existing group' }]);
    throw error;
  }
}

/** Converts a row to a client. */
export function toClient(row: ClientRow): StoredClient {
  return {
    id: row.id,
    ip: row.ip,
    mac: row.mac,
    key: row.key,
    addresses: row.addresses,
    site: row.site,
    hostname: row.hostname,
    name: row.name,
    groupId: row.group_id,
    deviceId: row.device_id,
    isAcknowledged: row.acknowledged,
    firstSeenMs: row.first_seen?.getTime() ?? null,
    lastSeenMs: row.last_seen?.getTime() ?? null,
    queryCount: Number(row.query_count),
    excludeFromLog: row.exclude_from_log,
    excludeFromStats: row.exclude_from_stats,
  };
}
