/** Requests and answers of `{api}/stats*` and `{api}/block-filter/stats`. */
import { z } from 'zod';
import { Period, Timestamp } from './fields.ts';

export const StatsQuery = z.object({ period: Period.default('24h') });
export type StatsQuery = z.output<typeof StatsQuery>;

const Count = z.int().min(0);
const Percent = z.number().min(0).max(100);
const Millis = z.number().min(0);
const Counts = z.record(z.string(), Count);

/** Summary of a period. */
export const StatsSummary = z
  .strictObject({
    queries_total: Count,
    queries_blocked: Count,
    block_rate: Percent,
    queries_rate_limited: Count,
    clients: Count,
    unique_domains: Count,
    uptime_secs: Count,
    cache_hit_rate: Percent,
    avg_query_time_ms: Millis,
    avg_cache_time_ms: Millis,
    avg_upstream_time_ms: Millis,
    p50_query_time_ms: Millis,
    p95_query_time_ms: Millis,
    p99_query_time_ms: Millis,
    queries_by_type: Counts,
    queries_by_status: Counts,
    queries_by_rcode: Counts,
    queries_by_protocol: Counts,
    source_stats: Counts.meta({ description: 'blocked queries by the source that blocked them' }),
  })
  .meta({ id: 'StatsSummary' });
export type StatsSummary = z.infer<typeof StatsSummary>;

export const RateQuery = z.object({ unit: z.enum(['second', 'minute']).default('second') });
export type RateQuery = z.output<typeof RateQuery>;

export const QueryRate = z
  .strictObject({ queries: Count, rate: z.string().meta({ examples: ['1.5k q/s'] }) })
  .meta({ id: 'QueryRate' });
export type QueryRate = z.infer<typeof QueryRate>;

/** The compiled filter in force. */
export const BlockFilterStats = z
  .strictObject({
    blocked_domains: Count,
    allowed_domains: Count,
    wildcard_rules: Count,
    regex_rules: Count,
    filter_bytes: Count,
    snapshot_id: Count,
    compiled_at: Timestamp.nullable(),
    compile_ms: z.number().min(0).nullable(),
  })
  .meta({ id: 'BlockFilterStats' });
export type BlockFilterStats = z.infer<typeof BlockFilterStats>;
