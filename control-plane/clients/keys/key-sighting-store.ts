/** SQL of `client_key_sightings`. */
import type { Queryable } from '../../storage/db/queryable.ts';

/** Times at which a client identified itself by a key. */
export interface KeySighting {
  readonly clientId: number;
  readonly key: string;
  /** Unix milliseconds. */
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Adds sightings; sightings of keys that the client no longer has are ignored. */
export async function storeKeySightings(db: Queryable, sightings: readonly KeySighting[]): Promise<void> {
  if (sightings.length === 0) return;
  const rows = sightings.map(({ clientId, key, firstMs, lastMs }) => ({
    id: clientId,
    key,
    first: new Date(firstMs).toISOString(),
    last: new Date(lastMs).toISOString(),
  }));
  await db.query(
    `INSERT INTO client_key_sightings AS old (client_id, client_key, first_seen, last_seen)
     SELECT c.id, c.client_key, v.first, v.last
       FROM jsonb_to_recordset($1::jsonb) AS v(id integer, key text, first timestamptz, last timestamptz)
       JOIN clients c ON c.id = v.id AND c.client_key = v.key
     ON CONFLICT (client_id) DO UPDATE SET client_key = excluded.client_key,
       first_seen = CASE WHEN old.client_key = excluded.client_key
         THEN least(old.first_seen, excluded.first_seen) ELSE excluded.first_seen END,
       last_seen = CASE WHEN old.client_key = excluded.client_key
         THEN greatest(old.last_seen, excluded.last_seen) ELSE excluded.last_seen END`,
    [JSON.stringify(rows)],
  );
}

/** First and last sighting of a key; null = none yet. */
export async function readKeySighting(
  db: Queryable,
  clientId: number,
  key: string,
): Promise<KeySighting | null> {
  const { rows } = await db.query<{ first_seen: Date; last_seen: Date }>(
    'SELECT first_seen, last_seen FROM client_key_sightings WHERE client_id = $1 AND client_key = $2',
    [clientId, key],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return { clientId, key, firstMs: row.first_seen.getTime(), lastMs: row.last_seen.getTime() };
}
