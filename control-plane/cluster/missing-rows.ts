/**
 * Rows of the query log that a process had numbered and that never came: a kill loses what was gathered and not stored,
 * and what lies in the spool of a node that is away is missing until it is back. A process tells how far it has numbered
 * with each block that it stores, so what came in the last seconds before a kill is not known: then the number is the least
 * that it can be.
 */
import type { Queryable } from '../db/database.ts';
import { GONE_SECS } from './node-figures.ts';
import { KILLED } from './node-store.ts';

/** Rows that a node lacks. */
export interface MissingRows {
  readonly rows: number;
  /** A process of the node was killed, or is gone without a word: it may have had more. */
  readonly isMinimum: boolean;
}

const IS_GONE = `abs(extract(epoch FROM clock_timestamp() - n.last_seen)) > ${GONE_SECS}`;

/** What each node lacks, by its id, over all its processes that have ended and are in the log. */
export async function missingRows(database: Queryable): Promise<ReadonlyMap<number, MissingRows>> {
  const { rows } = await database.query<MissingRows & { id: number }>(
    `SELECT n.id, sum(greatest(r.next_seq, r.last_seq + 1)
         - coalesce((SELECT sum(upper(range) - lower(range)) FROM unnest(r.stored) AS range), 0))::bigint AS rows,
       bool_or(n.run IS NOT NULL AND ${IS_GONE})
         OR EXISTS (SELECT FROM meta WHERE key = '${KILLED}' || n.id) AS "isMinimum"
     FROM query_runs AS r JOIN nodes AS n ON n.id = r.node_id
     WHERE r.key IS DISTINCT FROM n.run OR ${IS_GONE}
     GROUP BY n.id`,
  );
  return new Map(rows.map(({ id, ...missing }) => [id, missing]));
}
