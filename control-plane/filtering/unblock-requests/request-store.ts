/** SQL of `unblock_requests`, with the limits on their number. All times are by the clock of the node. */
import { notFound, tooMany } from '../../api/api-error.ts';
import type { Queryable } from '../../storage/db/database.ts';

/** An open request. */
export interface StoredRequest {
  readonly id: number;
  readonly clientId: number;
  readonly domain: string;
  readonly createdMs: number;
}

interface RequestRow {
  readonly id: number;
  readonly client_id: number;
  readonly domain: string;
  readonly created_at: Date;
}

const HOUR_MS = 3_600_000;
/** Milliseconds for which a request stays open. */
export const REQUEST_LIFE_MS = 24 * HOUR_MS;
/** Maximum number of open requests from all devices. */
const MAX_OPEN = 50;
/** Maximum number of requests per hour, open or closed, from all devices and from one device. */
const MAX_AN_HOUR = 100;
const MAX_AN_HOUR_OF_ONE = 4;

const COLUMNS = 'id, client_id, domain, created_at';
/**
 * A request that was created after `$1` has not expired. A request that was created after `$2`, a time in the future,
 * was created while the clock was wrong, and is ignored.
 */
const IS_OPEN = 'is_open AND created_at > $1 AND created_at <= $2';
const openAt = (nowMs: number): readonly Date[] => [
  new Date(nowMs - REQUEST_LIFE_MS),
  new Date(nowMs + HOUR_MS),
];

/** The open requests, oldest first. */
export async function readOpen(db: Queryable, nowMs: number): Promise<StoredRequest[]> {
  const text = `SELECT ${COLUMNS} FROM unblock_requests WHERE ${IS_OPEN} ORDER BY id`;
  return (await db.query<RequestRow>(text, [...openAt(nowMs)])).rows.map(toRequest);
}

/**
 * Stores a request; null if the device already has an open request. Concurrent requests are stored one at a time, so
 * that the limits are exact. @throws {ApiError} 429 if there are too many
 */
export async function insertRequest(
  tx: Queryable,
  { clientId, domain, nowMs }: { readonly clientId: number; readonly domain: string; readonly nowMs: number },
): Promise<StoredRequest | null> {
  await tx.query('LOCK TABLE unblock_requests IN SHARE ROW EXCLUSIVE MODE');
  await tx.query(
    `DELETE FROM unblock_requests WHERE NOT (created_at > $3 AND created_at <= $2 OR ${IS_OPEN})`,
    [...openAt(nowMs), new Date(nowMs - HOUR_MS)],
  );
  const { rows } = await tx.query<Record<'open' | 'own' | 'recent' | 'ownRecent', number>>(
    `SELECT count(*) FILTER (WHERE is_open)::integer AS open,
       count(*) FILTER (WHERE is_open AND client_id = $1)::integer AS own,
       count(*) FILTER (WHERE created_at > $2)::integer AS recent,
       count(*) FILTER (WHERE created_at > $2 AND client_id = $1)::integer AS "ownRecent" FROM unblock_requests`,
    [clientId, new Date(nowMs - HOUR_MS)],
  );
  const { open, own, recent, ownRecent } = rows[0]!;
  if (own > 0) return null;
  if (open >= MAX_OPEN || recent >= MAX_AN_HOUR || ownRecent >= MAX_AN_HOUR_OF_ONE)
    throw tooMany('rate_limited', 'too many requests to unblock names; try again later', HOUR_MS / 1000);
  const inserted = await tx.query<RequestRow>(
    `INSERT INTO unblock_requests (client_id, domain, created_at) VALUES ($1, $2, $3) RETURNING ${COLUMNS}`,
    [clientId, domain, new Date(nowMs)],
  );
  return toRequest(inserted.rows[0]!);
}

/** Closes an open request and returns it; throws 404 if it does not exist. */
export async function closeRequest(tx: Queryable, id: number, nowMs: number): Promise<StoredRequest> {
  const { rows } = await tx.query<RequestRow>(
    `UPDATE unblock_requests SET is_open = false WHERE id = $3 AND ${IS_OPEN} RETURNING ${COLUMNS}`,
    [...openAt(nowMs), id],
  );
  if (rows[0] === undefined) throw notFound(`unblock request ${id}`);
  return toRequest(rows[0]);
}

function toRequest(row: RequestRow): StoredRequest {
  return { id: row.id, clientId: row.client_id, domain: row.domain, createdMs: row.created_at.getTime() };
}
