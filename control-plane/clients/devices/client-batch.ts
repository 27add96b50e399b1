/** Clients that are created and deleted together: either all of them or none. */
import type { ClientBulkBody } from '../../../shared/api/policy/bulk-api.ts';
import type { ClientCreate } from '../../../shared/api/policy/clients-api.ts';
import { RowFaults } from '../../api/row-faults.ts';
import { noteUnknownGroups } from '../../policy/change/known-groups.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { isManual } from './client-record.ts';
import type { StoredClient } from './client-record.ts';
import type { ClientChange } from './client-change.ts';
import { COLUMNS, refusingBadClients, toClient } from './client-store.ts';
import type { ClientRow } from './client-store.ts';

/** Outcome of a batch. */
export interface ChangedBatch {
  /** Created clients in the order of the request. */
  readonly created: readonly StoredClient[];
  readonly changes: readonly ClientChange[];
}

/**
 * Deletes clients, then creates others. A client that was only seen becomes a created client. @throws {ApiError} 400,
 * 409
 */
export async function changeClients(tx: Queryable, batch: ClientBulkBody): Promise<ChangedBatch> {
  const faults = new RowFaults();
  const deleted = await deleteClients(tx, batch.delete, faults);
  const seen = await checkRows(tx, batch.create, faults);
  faults.throwIfAny();
  const created = await storeRows(tx, batch.create, seen);
  const made = created.map((after) => ({ before: seen.get(knownAs(fieldsOf(after))) ?? null, after }));
  return { created, changes: [...deleted.map((before) => ({ before, after: null })), ...made] };
}

async function deleteClients(
  tx: Queryable,
  ids: readonly number[],
  faults: RowFaults,
): Promise<StoredClient[]> {
  const text = `DELETE FROM clients WHERE id = ANY($1::integer[]) RETURNING ${COLUMNS}`;
  const { rows } = await tx.query<ClientRow>(text, [ids]);
  faults.missing(
    ids,
    rows.map(({ id }) => id),
  );
  return rows.map(toClient);
}

/**
 * Records rows that cannot be stored. Returns, by identifier, stored clients that were only seen and that new rows
 * replace.
 */
async function checkRows(
  tx: Queryable,
  rows: readonly ClientCreate[],
  faults: RowFaults,
): Promise<ReadonlyMap<string, StoredClient>> {
  faults.repeated(rows.map(knownAs), 'ip_address');
  faults.repeated(
    rows.map((row) => (knownAs(row).startsWith('key ') ? null : row.client_key)),
    'client_key',
  );
  await noteUnknownGroups(tx, rows, faults);
  const stored = await findClients(tx, rows);
  const byIdentity = new Map(stored.map((client) => [knownAs(fieldsOf(client)), client]));
  const keys = new Set(stored.flatMap(({ key }) => key ?? []));
  for (const [index, row] of rows.entries()) {
    const known = byIdentity.get(knownAs(row));
    if (row.client_key !== null && keys.has(row.client_key))
      faults.conflict(`create.${index}.client_key`, 'a client with this key already exists');
    else if (known !== undefined && isManual(known))
      faults.conflict(`create.${index}.${fieldOf(row)}`, `a client with ${nameOf(row)} already exists`);
  }
  return byIdentity;
}

/** Stored clients with these identifiers or keys. */
async function findClients(tx: Queryable, rows: readonly ClientCreate[]): Promise<StoredClient[]> {
  const [macs, ips, keys] = (['mac_address', 'ip_address', 'client_key'] as const).map((field) =>
    rows.flatMap((row) => row[field] ?? []),
  );
  const found = await tx.query<ClientRow>(
    `SELECT ${COLUMNS} FROM clients WHERE mac_address = ANY($1::macaddr[]) OR client_key = ANY($3::text[])
      OR (mac_address IS NULL AND ip_address = ANY($2::inet[]))`,
    [macs, ips, keys],
  );
  return found.rows.map(toClient);
}

const NEW_COLUMNS =
  'ip_address, mac_address, client_key, name, group_id, exclude_from_log, exclude_from_stats';
const NEW_ROWS = `ROWS FROM (jsonb_to_recordset($1::jsonb) AS (id integer, ip_address inet, mac_address macaddr,
    client_key text, name text, group_id integer, exclude_from_log boolean, exclude_from_stats boolean))
  WITH ORDINALITY AS v (id, ${NEW_COLUMNS}, place)`;

async function storeRows(
  tx: Queryable,
  rows: readonly ClientCreate[],
  seen: ReadonlyMap<string, StoredClient>,
): Promise<StoredClient[]> {
  const json = JSON.stringify(rows.map((row) => ({ ...row, id: seen.get(knownAs(row))?.id ?? null })));
  const inserted = `INSERT INTO clients (${NEW_COLUMNS}) SELECT ${NEW_COLUMNS} FROM ${NEW_ROWS} WHERE id IS NULL
    ORDER BY place`;
  const updated = `UPDATE clients SET ip_address = coalesce(v.ip_address, clients.ip_address), name = v.name,
      group_id = v.group_id, client_key = v.client_key, exclude_from_log = v.exclude_from_log,
      exclude_from_stats = v.exclude_from_stats
    FROM ${NEW_ROWS} WHERE clients.id = v.id`;
  const written = await refusingBadClients(async () => {
    await tx.query(updated, [json]);
    await tx.query(inserted, [json]);
    return findClients(tx, rows);
  });
  const stored = new Map(written.map((client) => [knownAs(fieldsOf(client)), client]));
  return rows.flatMap((row) => stored.get(knownAs(row)) ?? []);
}

type KnownBy = Pick<ClientCreate, 'mac_address' | 'ip_address' | 'client_key'>;

function fieldsOf({ mac, ip, key }: StoredClient): KnownBy {
  return { mac_address: mac, ip_address: ip, client_key: key };
}

/** The field that identifies a client: its MAC; without a MAC, its address; without both, its key. */
function fieldOf({ mac_address: mac, ip_address: ip }: KnownBy): keyof KnownBy {
  if (mac !== null) return 'mac_address';
  return ip === null ? 'client_key' : 'ip_address';
}

function nameOf(row: KnownBy): string {
  return String(row[fieldOf(row)]);
}

function knownAs(row: KnownBy): string {
  return fieldOf(row) === 'client_key' ? `key ${nameOf(row)}` : nameOf(row);
}
