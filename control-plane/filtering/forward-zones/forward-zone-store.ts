/** SQL of `forward_zones`. */
import type {
  ForwardZone,
  ForwardZoneCreate,
  ForwardZoneUpdate,
} from '../../../shared/api/policy/forward-zones-api.ts';
import { conflict, notFound } from '../../api/api-error.ts';
import { isUniqueViolation } from '../../storage/db/database-errors.ts';
import type { Queryable } from '../../storage/db/database.ts';

interface ForwardZoneRow extends Omit<ForwardZone, 'created_at' | 'updated_at'> {
  readonly created_at: Date;
  readonly updated_at: Date;
}

const COLUMNS = 'id, zone, servers, comment, enabled, created_at, updated_at';

/** All zones, by name. */
export async function listForwardZones(db: Queryable): Promise<ForwardZone[]> {
  const { rows } = await db.query<ForwardZoneRow>(`SELECT ${COLUMNS} FROM forward_zones ORDER BY zone, id`);
  return rows.map(toZone);
}

/** One zone; throws 404 if it does not exist. */
export async function readForwardZone(db: Queryable, id: number): Promise<ForwardZone> {
  const { rows } = await db.query<ForwardZoneRow>(`SELECT ${COLUMNS} FROM forward_zones WHERE id = $1`, [id]);
  return existing(rows[0], id);
}

/** Stores a new zone; throws 409 if it already exists. */
export async function insertForwardZone(db: Queryable, zone: ForwardZoneCreate): Promise<ForwardZone> {
  const text = `INSERT INTO forward_zones (zone, servers, comment, enabled) VALUES ($1, $2, $3, $4)
    RETURNING ${COLUMNS}`;
  const values = [zone.zone, zone.servers, zone.comment, zone.enabled];
  const { rows } = await refusingDuplicates(() => db.query<ForwardZoneRow>(text, values));
  return toZone(rows[0]!);
}

/** Changes the given fields; throws 404 for an unknown id, or 409 if the zone already exists. */
export async function updateForwardZone(
  db: Queryable,
  id: number,
  change: ForwardZoneUpdate,
): Promise<ForwardZone> {
  const text = `UPDATE forward_zones SET zone = coalesce($2, zone), servers = coalesce($3, servers),
    comment = coalesce($4, comment), enabled = coalesce($5, enabled), updated_at = now()
    WHERE id = $1 RETURNING ${COLUMNS}`;
  const values = [id, change.zone, change.servers, change.comment, change.enabled];
  const { rows } = await refusingDuplicates(() => db.query<ForwardZoneRow>(text, values));
  return existing(rows[0], id);
}

/** Deletes a zone and returns its last state; throws 404 if it does not exist. */
export async function deleteForwardZone(db: Queryable, id: number): Promise<ForwardZone> {
  const text = `DELETE FROM forward_zones WHERE id = $1 RETURNING ${COLUMNS}`;
  const { rows } = await db.query<ForwardZoneRow>(text, [id]);
  return existing(rows[0], id);
}

function existing(row: ForwardZoneRow | undefined, id: number): ForwardZone {
  if (row === undefined) throw notFound(`forward zone ${id}`);
  return toZone(row);
}

async function refusingDuplicates<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, 'forward_zones_zone_key'))
      throw conflict('a forward zone with this name already exists');
    throw error;
  }
}

function toZone(row: ForwardZoneRow): ForwardZone {
  return { ...row, created_at: row.created_at.toISOString(), updated_at: row.updated_at.toISOString() };
}
