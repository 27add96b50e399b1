/** Summary of a timeline in one sentence. */

/** A bucket of a timeline. */
export interface TimelineBucket {
  readonly timestamp: string;
  readonly total: number;
  readonly blocked: number;
}

/** Totals, and the bucket with the most queries; null if there are no queries. */
export interface TimelineSummary {
  readonly total: number;
  readonly blocked: number;
  readonly busiest: TimelineBucket | null;
}

/** Summarises a timeline. */
export function summaryOf(buckets: readonly TimelineBucket[]): TimelineSummary {
  let total = 0;
  let blocked = 0;
  let busiest: TimelineBucket | null = null;
  for (const bucket of buckets) {
    total += bucket.total;
    blocked += bucket.blocked;
    if (bucket.total > (busiest?.total ?? 0)) busiest = bucket;
  }
  return { total, blocked, busiest };
}
