/** Query log and statistics that hold nothing: stand behind their ports where HTTP is what is tested. */
import type { QueryLogFilter, QueryLogReader } from '../../control-plane/query-log/query-log-port.ts';
import type { StatsReader } from '../../control-plane/stats/stats-port.ts';
import type { QueryLogPage } from '../../shared/api/query-log.ts';

/** Answers every look with nothing, and keeps what was looked for. */
export class RecordingQueryLog implements QueryLogReader {
  readonly filters: QueryLogFilter[] = [];

  async page(filter: QueryLogFilter): Promise<QueryLogPage> {
    this.filters.push(filter);
    return { data: [], total: 0, limit: filter.limit, offset: filter.offset, next_cursor: null };
  }
}

/** Statistics of a day without queries. */
export const emptyStats: StatsReader = {
  summary: async () => ({
    queries_total: 0,
    queries_blocked: 0,
    block_rate: 0,
    queries_rate_limited: 0,
    clients: 0,
    unique_domains: 0,
    cache_hit_rate: 0,
    avg_query_time_ms: 0,
    avg_cache_time_ms: 0,
    avg_upstream_time_ms: 0,
    p50_query_time_ms: 0,
    p95_query_time_ms: 0,
    p99_query_time_ms: 0,
    queries_by_type: {},
    queries_by_status: {},
    queries_by_rcode: {},
    queries_by_protocol: {},
    source_stats: {},
  }),
};
