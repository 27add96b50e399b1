/**
 * Finds the parts of a span whose rows were cleared from the log, so that the counts of the span no longer match the
 * log.
 */
import type { ClearedPeriods } from '../../../shared/api/stats-api.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { Span } from './counts-reader.ts';

/**
 * Maximum number of parts in a response; if there are more, one part from the first start to the last end replaces
 * them.
 */
const MAX_PARTS = 20;

/** The parts in order, without overlaps, and within the span. */
export async function readCleared(tx: Queryable, { fromMs, toMs }: Span): Promise<ClearedPeriods> {
  const { rows } = await tx.query<{ from: Date; to: Date }>(
    `SELECT lower(part) AS from, upper(part) AS to FROM (
       SELECT unnest(range_agg(tstzrange(greatest(first_time, $1), least(last_time, $2), '[]'))) AS part
       FROM query_log_clears WHERE rows > 0 AND last_time >= $1 AND first_time < $2) AS parts ORDER BY 1`,
    [new Date(fromMs), new Date(toMs)],
  );
  const parts = rows.map(({ from, to }) => ({ from: from.toISOString(), to: to.toISOString() }));
  if (parts.length <= MAX_PARTS) return parts;
  return [{ from: parts[0]!.from, to: parts.at(-1)!.to }];
}
