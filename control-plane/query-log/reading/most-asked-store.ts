/** SQL of the names that a node answers most often. */
import { QueryStatus } from '../../../shared/query-log.ts';
import type { Queryable } from '../../db/database.ts';

const DAYS = 7;

/** Names that `nodeId` allowed in the last seven days, most asked first, in lower case. */
export async function readMostAsked(
  db: Queryable,
  nodeId: number,
  nowMs: number,
  limit: number,
): Promise<string[]> {
  const { ALLOWED, CACHED, STALE } = QueryStatus;
  const text = `SELECT domain FROM query_log
    WHERE "timestamp" >= $2::timestamptz - interval '${DAYS} days' AND "timestamp" <= $2::timestamptz
      AND node_id = $1 AND status IN (${ALLOWED}, ${CACHED}, ${STALE})
    GROUP BY domain ORDER BY count(*) DESC, domain LIMIT $3`;
  const { rows } = await db.query<{ domain: string }>(text, [nodeId, new Date(nowMs), limit]);
  return rows.map(({ domain }) => domain);
}
