/** What the API asks of the statistics. */
import type { StatsSummary } from '../../shared/api/stats-api.ts';

/** Read side of the statistics. */
export interface StatsReader {
  /** Summary of the queries of all nodes from `from` (inclusive) to `to` (exclusive). */
  summary(from: Date, to: Date): Promise<Omit<StatsSummary, 'uptime_secs'>>;
  /** Queries of that time that the cache answered, and those that it was asked for and could not. */
  cacheUse(from: Date, to: Date): Promise<{ readonly hits: number; readonly misses: number }>;
}
