/** SQL for merging several clients into one device, and for separating one of them again. */
import type { Queryable } from '../../../storage/db/database.ts';
import { conflict, invalid } from '../../../api/api-error.ts';
import { MAX_MERGED } from '../../../../shared/api/policy/clients-api.ts';
import type { ClientChange } from '../client-change.ts';
import type { StoredClient } from '../client-record.ts';
import { isPart } from '../../parts/device-parts.ts';
import { COLUMNS, readClient, toClient } from '../client-store.ts';
import type { ClientRow } from '../client-store.ts';

/** Serializes merges, so that a merge sees the result of earlier ones. */
const LOCK = 'LOCK TABLE clients IN SHARE ROW EXCLUSIVE MODE';
const WITH_PARTS = `SELECT ${COLUMNS} FROM clients WHERE id = ANY($1::integer[]) OR device_id = ANY($1::integer[])`;

/**
 * Merges clients, with their own parts, into another client, whose name, group and exclusions then apply, and which
 * gets their grants and users. Throws 404 if that client does not exist, 400 for other unknown clients and for the
 * client itself, and 409 for parts of a third client.
 */
export async function mergeClients(
  tx: Queryable,
  id: number,
  others: readonly number[],
): Promise<readonly ClientChange[]> {
  if (others.includes(id))
    throw invalid([{ path: `client_ids.${others.indexOf(id)}`, message: 'expected another client' }]);
  await tx.query(LOCK);
  const before = (await tx.query<ClientRow>(WITH_PARTS, [[id, ...others]])).rows.map(toClient);
  const main = before.find((client) => client.id === id) ?? (await readClient(tx, id));
  checkOthers(main, before, others);
  const parts = before.filter((client) => client.id !== id);
  if (parts.length > MAX_MERGED)
    throw conflict(
      `the device would consist of ${parts.length} other clients; at most ${MAX_MERGED} are allowed`,
    );
  const ids = parts.map((part) => part.id);
  await tx.query('UPDATE clients SET device_id = id WHERE id = $1', [id]);
  await tx.query(
    `UPDATE clients SET device_id = $1, name = NULL, group_id = NULL, exclude_from_log = false, exclude_from_stats = false
      WHERE id = ANY($2::integer[])`,
    [id, ids],
  );
  await tx.query('UPDATE grants SET client_id = $1 WHERE client_id = ANY($2::integer[])', [id, ids]);
  await tx.query(
    `WITH moved AS (DELETE FROM user_clients WHERE client_id = ANY($2::integer[]) RETURNING user_id)
      INSERT INTO user_clients (user_id, client_id) SELECT DISTINCT user_id, $1::integer FROM moved ON CONFLICT DO NOTHING`,
    [id, ids],
  );
  return changesOf(tx, before);
}

function checkOthers(main: StoredClient, found: readonly StoredClient[], others: readonly number[]): void {
  const known = new Map(found.map((client) => [client.id, client]));
  const unknown = others.flatMap((other, index) => (known.has(other) ? [] : [index]));
  if (unknown.length > 0)
    throw invalid(
      unknown.map((index) => ({ path: `client_ids.${index}`, message: 'expected the id of a client' })),
    );
  for (const client of [main, ...others.map((other) => known.get(other)!)])
    if (isPart(client) && client.deviceId !== main.id)
      throw conflict(`client ${client.id} is part of client ${client.deviceId}; split it off first`);
}

/**
 * Makes a part of a client a separate client again, with the client's group and exclusions, so that its filtering does
 * not change. Throws 404 for an unknown client, and 409 if the client is not a part.
 */
export async function splitClient(tx: Queryable, id: number): Promise<readonly ClientChange[]> {
  await tx.query(LOCK);
  const client = await readClient(tx, id);
  if (!isPart(client)) throw conflict('the client is not part of another client');
  const before = (await tx.query<ClientRow>(WITH_PARTS, [[client.deviceId]])).rows.map(toClient);
  await tx.query(
    `UPDATE clients c SET device_id = NULL, group_id = main.group_id, exclude_from_log = main.exclude_from_log,
        exclude_from_stats = main.exclude_from_stats
      FROM clients main WHERE c.id = $1 AND main.id = c.device_id AND main.id <> c.id`,
    [id],
  );
  await tx.query(
    `UPDATE clients main SET device_id = NULL WHERE id = $1 AND device_id = id
      AND NOT EXISTS (SELECT FROM clients other WHERE other.device_id = main.id AND other.id <> main.id)`,
    [client.deviceId],
  );
  return changesOf(tx, before);
}

async function changesOf(tx: Queryable, before: readonly StoredClient[]): Promise<readonly ClientChange[]> {
  const ids = before.map(({ id }) => id);
  const text = `SELECT ${COLUMNS} FROM clients WHERE id = ANY($1::integer[])`;
  const after = new Map((await tx.query<ClientRow>(text, [ids])).rows.map((row) => [row.id, toClient(row)]));
  return before.map((one) => ({ before: one, after: after.get(one.id) ?? null }));
}
