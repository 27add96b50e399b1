/** Statistics as the API needs them. */
import type { StatsSummary } from '../../shared/api/stats-api.ts';

/** Read side of the statistics. */
export interface StatsReader {
  /** Summary of the queries of all nodes from `from` (inclusive) to `to` (exclusive). */
  summary(from: Date, to: Date): Promise<Omit<StatsSummary, 'uptime_secs'>>;
  /** Cache hits and misses of the period. */
  cacheUse(from: Date, to: Date): Promise<{ readonly hits: number; readonly misses: number }>;
}
