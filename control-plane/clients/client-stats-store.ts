/** SQL of clients' queries in a period, by address; `client-directory.ts` maps addresses to clients. */
import { BLOCKED_STATUSES } from '../../shared/query-log.ts';
import type { Queryable } from '../db/database.ts';

/** Addresses that are counted, the busiest ones. */
const MAX_ADDRESSES = 10_000;

/** Queries from one address. */
export interface AddressCount {
  readonly address: string;
  readonly total: number;
  readonly blocked: number;
}

/** Counts of [fromMs, toMs), Unix milliseconds. */
export async function summarizeClients(db: Queryable, fromMs: number, toMs: number): Promise<AddressCount[]> {
  const { rows } = await db.query<AddressCount>(
    `SELECT host(client) AS address, count(*)::integer AS total,
       (count(*) FILTER (WHERE status = ANY ($3)))::integer AS blocked
     FROM query_log WHERE "timestamp" >= $1 AND "timestamp" < $2 GROUP BY client ORDER BY 2 DESC LIMIT $4`,
    [new Date(fromMs), new Date(toMs), BLOCKED_STATUSES, MAX_ADDRESSES],
  );
  return rows;
}
