/**
 * Stores the devices as if Weir had discovered them on its own network: Weir learns a MAC address only from a
 * neighbour, and the demo has no neighbours.
 */
import { asOwner } from '../support/parts/as-owner.ts';
import type { Database } from '../../control-plane/storage/db/database.ts';
import { groupIdOf, GROUPS, HOUSEHOLD } from './household.ts';

/** Adds groups and devices to a database without groups and devices; no Weir may be using the database. */
export async function addDevices(database: Database): Promise<void> {
  // The generated log refers to groups by these ids.
  for (const group of GROUPS)
    await database.query('INSERT INTO groups (id, name) VALUES ($1, $2)', [groupIdOf(group), group]);
  await asOwner(database, "SELECT setval(pg_get_serial_sequence('groups', 'id'), max(id)) FROM groups");
  for (const { name, address, mac, hostname, group } of HOUSEHOLD)
    await database.query(
      `INSERT INTO clients (ip_address, mac_address, addresses, hostname, name, group_id, first_seen, last_seen)
       VALUES ($1, $2, ARRAY[$1::inet], $3, $4, $5, now() - interval '40 days', now())`,
      [address, mac, hostname, name, groupIdOf(group)],
    );
}
