/**
 * SQL that restores the settings that clients had at a revision. A client that had only been seen at that revision
 * loses the settings it got later, or is deleted if nothing is known about it. A deleted client is restored under its
 * id, with its sightings; if the device was discovered again in the meantime, the new row becomes part of the restored
 * client.
 */
import type { Queryable } from '../../storage/db/database.ts';
import { firstChangesOf } from './noted-changes.ts';

const CHANGED = firstChangesOf('clients');
/** Earlier state of clients with settings by users. */
const WAS = `WITH was AS MATERIALIZED (SELECT r.* FROM ${CHANGED} first,
  jsonb_populate_record(NULL::clients, first.was) r WHERE first.was IS NOT NULL)`;

/** Makes sightings wait, because their rows could conflict. */
const LOCK = 'LOCK TABLE clients IN SHARE ROW EXCLUSIVE MODE';

/** Merged clients are separated until the end of the restore; no client is deleted as part of another one. */
const SPLIT = `UPDATE clients SET device_id = NULL FROM ${CHANGED} first
  WHERE id = first.key::integer AND device_id IS NOT NULL`;
const REMOVE_NEW = `DELETE FROM clients USING ${CHANGED} first WHERE first.was IS NULL AND id = first.key::integer
  AND (ip_address IS NULL AND mac_address IS NULL
    OR last_seen IS NULL AND NOT EXISTS (SELECT FROM grants WHERE client_id = clients.id))`;
const CLEAR_NEW = `UPDATE clients SET group_id = NULL, name = NULL, client_key = NULL, exclude_from_log = false,
    exclude_from_stats = false FROM ${CHANGED} first
  WHERE first.was IS NULL AND id = first.key::integer`;

/** Whether the client is identified by the same MAC or, without one, by the same address. */
const STAYS = `(clients.mac_address = was.mac_address
  OR clients.mac_address IS NULL AND was.mac_address IS NULL AND clients.ip_address = was.ip_address) IS TRUE`;
const KEEPS_KEY = `clients.client_key IS NOT DISTINCT FROM was.client_key
  AND (${STAYS} OR clients.client_key IS NOT NULL)`;
/**
 * Clients may have exchanged their addresses and keys. Each row must have an identifier, so it gets a unique temporary
 * key if necessary.
 */
const DETACH = `${WAS} UPDATE clients SET group_id = NULL,
    mac_address = CASE WHEN ${STAYS} THEN clients.mac_address END,
    ip_address = CASE WHEN ${STAYS} THEN clients.ip_address END,
    client_key = CASE WHEN ${KEEPS_KEY} THEN clients.client_key ELSE gen_random_uuid()::text END
  FROM was WHERE clients.id = was.id`;

/**
 * Removes the changed clients from their groups, and removes the settings of clients that had only been seen at the
 * revision.
 */
export async function detachClients(tx: Queryable, revision: number): Promise<void> {
  await tx.query(LOCK);
  for (const text of [SPLIT, REMOVE_NEW, CLEAR_NEW, DETACH]) await tx.query(text, [revision]);
}

const INSERT_DELETED = `${WAS} INSERT INTO clients
    (id, client_key, addresses, site, hostname, first_seen, last_seen, query_count)
  SELECT id, gen_random_uuid()::text, addresses, site, hostname, first_seen, last_seen, query_count FROM was
  ON CONFLICT (id) DO NOTHING`;

const IS_OTHER = `seen.id <> was.id AND seen.group_id IS NULL AND seen.name IS NULL AND seen.client_key IS NULL
  AND seen.device_id IS NULL AND NOT seen.exclude_from_log AND NOT seen.exclude_from_stats`;
/** Clients that were discovered after the revision, each with the earlier client that has the same identifier. */
const SEEN_AGAIN = `${WAS}
  SELECT seen.id, was.id AS is FROM clients seen JOIN was ON seen.mac_address = was.mac_address WHERE ${IS_OTHER}
  UNION ALL SELECT seen.id, was.id AS is FROM clients seen JOIN was ON seen.ip_address = was.ip_address
    WHERE seen.mac_address IS NULL AND was.mac_address IS NULL AND ${IS_OTHER}`;
const PAIRS = 'unnest($1::integer[], $2::integer[]) AS pair (id, is_id)';
const TAKE_GRANTS = `UPDATE grants SET client_id = pair.is_id FROM ${PAIRS} WHERE grants.client_id = pair.id`;
const TAKE_SIGHTINGS = `WITH gone AS (DELETE FROM clients USING ${PAIRS} WHERE clients.id = pair.id
    RETURNING pair.is_id, clients.*)
  UPDATE clients SET addresses = gone.addresses, site = gone.site, hostname = coalesce(gone.hostname, clients.hostname),
    first_seen = least(clients.first_seen, gone.first_seen), last_seen = greatest(clients.last_seen, gone.last_seen),
    query_count = clients.query_count + gone.query_count FROM gone WHERE clients.id = gone.is_id`;

/** A client that is identified by its MAC keeps its latest address. */
const SET_AS_THEN = `${WAS} UPDATE clients SET mac_address = was.mac_address, client_key = was.client_key,
    name = was.name, group_id = was.group_id, device_id = was.device_id, exclude_from_log = was.exclude_from_log,
    exclude_from_stats = was.exclude_from_stats, ip_address = CASE WHEN was.mac_address IS NULL THEN was.ip_address
      ELSE coalesce(clients.ip_address, clients.addresses[1], was.ip_address) END
  FROM was WHERE clients.id = was.id`;

/** Restores the fields of the changed clients, once their groups exist. */
export async function restoreClients(tx: Queryable, revision: number): Promise<void> {
  await tx.query(INSERT_DELETED, [revision]);
  const { rows } = await tx.query<{ id: number; is: number }>(SEEN_AGAIN, [revision]);
  const pairs = [rows.map(({ id }) => id), rows.map(({ is }) => is)];
  if (rows.length > 0) for (const text of [TAKE_GRANTS, TAKE_SIGHTINGS]) await tx.query(text, pairs);
  await tx.query(SET_AS_THEN, [revision]);
}
