/** Summary of a timeline in one sentence. */

/** One span of a timeline. */
export interface TimelineBucket {
  /** Start of the bucket. */
  readonly timestamp: string;
  readonly total: number;
  readonly blocked: number;
}

/** The sums, and the bucket with the most queries; null without queries. */
export interface TimelineSummary {
  readonly total: number;
  readonly blocked: number;
  readonly busiest: TimelineBucket | null;
}

/** Sums a timeline up. */
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
