/** The counts of a period (`store/counts-store.ts`), kept between questions: what changed is taken away, and added as it is. */
import type { Queryable } from '../../db/database.ts';
import type { Grain } from '../store/counts-store.ts';
import { ChangedRows, type RowRange, type TableRows } from './changed-rows.ts';

/** Counts of one grain that start in a span; Unix milliseconds. */
export interface CountsRange {
  readonly grain: Grain;
  readonly fromMs: number;
  readonly toMs: number;
}

const TOTALS = ['queries', 'blocked', 'cached', 'forwarded', 'rateLimited'] as const;

/** Sums of rows. */
export interface SummedCounts extends Readonly<Record<(typeof TOTALS)[number], number>> {
  /** By `kind:value`, those that are not 0. */
  readonly counts: ReadonlyMap<string, number>;
}

interface CountsRow {
  readonly grain: Grain;
  readonly startMs: number;
  readonly nodeId: number;
  /** In the order of `TOTALS`. */
  readonly totals: readonly number[];
  readonly counts: Readonly<Record<string, number>>;
}

const COUNTS: TableRows<CountsRow> = {
  table: 'query_counts',
  columns: 'grain, start, node_id, queries, blocked, cached, forwarded, rate_limited, counts',
  values: [
    ...['grain', '(extract(epoch FROM start) * 1000)::bigint', 'node_id'],
    ...['queries', 'blocked', 'cached', 'forwarded', 'rate_limited', 'counts'],
  ],
  // Each change adds queries.
  digest: `hashint8extended(queries, hashint8extended(extract(epoch FROM start)::bigint, node_id * 128::bigint + ascii(grain::text)))`,
  keyOf: ({ grain, startMs, nodeId }) => `${grain}.${startMs}.${nodeId}`,
  toRow: ([grain, startMs, nodeId, ...values]) => ({
    ...{ grain: grain as Grain, startMs: startMs as number, nodeId: nodeId as number },
    totals: values.slice(0, TOTALS.length) as number[],
    counts: values[TOTALS.length] as CountsRow['counts'],
  }),
};

/** Most rows, of some 5 KB each: 24 hours of four nodes. */
const MOST_ROWS = 512;

/** The counts of one period. One reading at a time. */
export class KeptCounts {
  private readonly rows = new ChangedRows(COUNTS, MOST_ROWS);
  private summed = new Set<CountsRow>();
  private readonly totals = new Float64Array(TOTALS.length);
  private readonly counts = new Map<string, number>();

  /** Their sums; null if there are too many rows. */
  async read(tx: Queryable, ranges: readonly CountsRange[]): Promise<SummedCounts | null> {
    const rows = await this.rows.read(tx, ranges.map(toRowRange)); // prettier-ignore
    const now = new Set(rows?.flat());
    for (const row of this.summed.difference(now)) this.add(row, -1);
    for (const row of now.difference(this.summed)) this.add(row, 1);
    this.summed = now;
    if (rows === null) return null;
    const [queries, blocked, cached, forwarded, rateLimited] = this.totals as Iterable<number>;
    const totals = { queries, blocked, cached, forwarded, rateLimited } as Omit<SummedCounts, 'counts'>;
    return { ...totals, counts: new Map(this.counts) };
  }

  private add({ totals, counts }: CountsRow, sign: 1 | -1): void {
    totals.forEach((count, at) => {
      this.totals[at]! += sign * count;
    });
    for (const key in counts) {
      const sum = (this.counts.get(key) ?? 0) + sign * counts[key]!;
      if (sum === 0) this.counts.delete(key);
      else this.counts.set(key, sum);
    }
  }
}

function toRowRange({ grain, fromMs, toMs }: CountsRange): RowRange<CountsRow> {
  const moment = (ms: number): Date => new Date(ms);
  return {
    sql: (put) =>
      `grain = ${put(grain)}::"char" AND start >= ${put(moment(fromMs))} AND start < ${put(moment(toMs))}`,
    holds: (row) => row.grain === grain && row.startMs >= fromMs && row.startMs < toMs,
  };
}
