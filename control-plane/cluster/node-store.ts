/** The `nodes` table: who shares this database. A node's id is made from its name, so it needs no database. */
import { crc32 } from 'node:zlib';
import type { Queryable } from '../db/database.ts';

/** What a node says of itself. */
export interface NodeIdentity {
  readonly name: string;
  readonly version: string;
}

/** Id of a node in log rows: 31 bits of its name, always the same. */
export function nodeIdOf(name: string): number {
  return crc32(name) >>> 1;
}

/** Enters the node or notes that it started. @throws when another node's name has the same id. */
export async function registerNode(database: Queryable, { name, version }: NodeIdentity): Promise<void> {
  const { rows } = await database.query<{ name: string }>(
    `INSERT INTO nodes (id, name, version, started_at) VALUES ($1, $2, $3, now())
     ON CONFLICT (id) DO UPDATE SET version = excluded.version, started_at = now(), last_seen = now()
     RETURNING name`,
    [nodeIdOf(name), name, version],
  );
  const holder = rows[0]?.name;
  if (holder === name) return;
  throw new Error(
    `register node ${name}: its id is taken by node ${String(holder)}; choose another server.node_name`,
  );
}
