/**
 * Rows of the query log that a process had numbered and that never came: a kill loses what was gathered and not stored,
 * and what lies in the spool of a node that is away is missing until it is back. A process tells how far it has numbered
 * with each block that it stores, so what came in the last second before a kill is not known.
 */
import type { Queryable } from '../db/database.ts';
import { GONE_SECS } from './node-figures.ts';

/** How many each node lacks, by its id, over all its processes that have ended. */
export async function missingRows(database: Queryable): Promise<ReadonlyMap<number, number>> {
  const { rows } = await database.query<{ id: number; missing: number }>(
    `SELECT n.id, sum(greatest(r.next_seq, r.last_seq + 1)
         - coalesce((SELECT sum(upper(range) - lower(range)) FROM unnest(r.stored) AS range), 0))::bigint AS missing
     FROM query_runs AS r JOIN nodes AS n ON n.id = r.node_id
     WHERE r.key IS DISTINCT FROM n.run OR abs(extract(epoch FROM clock_timestamp() - n.last_seen)) > ${GONE_SECS}
     GROUP BY n.id`,
  );
  return new Map(rows.map(({ id, missing }) => [id, missing]));
}
