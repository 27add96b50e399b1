/** Adds the counts of a block's minutes to the stored counts of minutes, quarters of an hour and days. */
import type { PoolClient } from 'pg';
import type { MinuteCounts } from '../block/minute-counts.ts';

/** Length in milliseconds of each granularity of counts, by its letter in the database. */
export const GRAIN_MS = { m: 60_000, q: 900_000, d: 86_400_000 } as const;
export type Grain = keyof typeof GRAIN_MS;

interface CountsRow {
  readonly grain: Grain;
  readonly startMs: number;
  readonly numbers: number[];
  readonly counts: Record<string, number>;
}

/** Adds the counts of a node, as part of the caller's transaction. */
export async function addCounts(
  client: PoolClient,
  nodeId: number,
  minutes: readonly MinuteCounts[],
): Promise<void> {
  const rows = (Object.keys(GRAIN_MS) as Grain[]).flatMap((grain) => sumsOf(grain, minutes));
  const column = (index: number): number[] => rows.map(({ numbers }) => numbers[index]!);
  await client.query({
    name: 'add-counts',
    // Rows are in key order, so that two transactions that add counts for the same node cannot deadlock.
    text: `INSERT INTO query_counts AS c
         (grain, start, node_id, queries, blocked, cached, forwarded, rate_limited, counts)
       SELECT grain::"char", 'epoch'::timestamptz + start * interval '1 millisecond', $1, queries, blocked, cached,
         forwarded, rate_limited, counts::jsonb
       FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::text[])
         AS added (grain, start, queries, blocked, cached, forwarded, rate_limited, counts)
       ORDER BY 1, 2
       ON CONFLICT (grain, start, node_id) DO UPDATE SET queries = c.queries + excluded.queries,
         blocked = c.blocked + excluded.blocked, cached = c.cached + excluded.cached,
         forwarded = c.forwarded + excluded.forwarded, rate_limited = c.rate_limited + excluded.rate_limited,
         counts = weir_add_counts(c.counts, excluded.counts)`,
    values: [
      nodeId,
      rows.map(({ grain }) => grain),
      rows.map(({ startMs }) => startMs),
      ...[0, 1, 2, 3, 4].map(column),
      rows.map(({ counts }) => JSON.stringify(counts).replaceAll('\\u0000', '')),
    ],
  });
}

/** The counts of the minutes, summed by granularity `grain`. */
function sumsOf(grain: Grain, minutes: readonly MinuteCounts[]): CountsRow[] {
  const bySpan = new Map<number, CountsRow>();
  for (const { minuteMs, queries, blocked, cached, forwarded, rateLimited, counts } of minutes) {
    const startMs = Math.floor(minuteMs / GRAIN_MS[grain]) * GRAIN_MS[grain];
    const sum = bySpan.get(startMs) ?? { grain, startMs, numbers: [0, 0, 0, 0, 0], counts: {} };
    bySpan.set(startMs, sum);
    [queries, blocked, cached, forwarded, rateLimited].forEach((value, index) => {
      sum.numbers[index]! += value;
    });
    for (const [key, value] of Object.entries(counts)) sum.counts[key] = (sum.counts[key] ?? 0) + value;
  }
  return [...bySpan.values()];
}
