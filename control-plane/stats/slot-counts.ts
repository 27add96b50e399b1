/** Counts by value of a span that is cut into slots of equal length, from the counts of minutes. */
import type { Queryable } from '../db/database.ts';
import type { Span } from './stats-store.ts';

/** Which counts. */
export interface SlotRequest extends Span {
  /** Length of a slot, a multiple of a minute; slots start at multiples of it. */
  readonly stepMs: number;
  /** Kinds of counts, such as `status`; see `MinuteCounts.counts`. */
  readonly kinds: readonly string[];
}

/** Counts of a slot by `kind:value`. */
export interface SlotCounts {
  readonly startMs: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** The slots that have queries, in order. The span starts at most two days ago. */
export async function readSlotCounts(tx: Queryable, request: SlotRequest): Promise<SlotCounts[]> {
  const { fromMs, toMs, stepMs, kinds } = request;
  const { rows } = await tx.query<{ startMs: number; counts: Record<string, number> }>(
    `SELECT slot * $4::bigint AS "startMs", jsonb_object_agg(key, value) AS counts FROM (
       SELECT floor(extract(epoch FROM start) * 1000 / $4::bigint)::bigint AS slot, key, sum(value::bigint) AS value
       FROM query_counts, jsonb_each_text(counts)
       WHERE grain = 'm' AND start >= $1 AND start < $2 AND split_part(key, ':', 1) = ANY($3)
       GROUP BY slot, key) AS sums
     GROUP BY slot ORDER BY slot`,
    [new Date(fromMs), new Date(toMs), kinds, stepMs],
  );
  return rows;
}
