/** Requests and answers of `{api}/stats*` and `{api}/block-filter/stats`. */
import { z } from 'zod';
import { isTimeZone } from '../policy/time-zone.ts';
import { CacheStats } from './cache-api.ts';
import {
  AddressOrNetwork,
  anyCase,
  former,
  Id,
  MAX_ID,
  NodeName,
  optionalQueryInt,
  Period,
  queryInt,
  Timestamp,
} from './fields.ts';

const OfNode = NodeName.optional().meta({
  description: 'only queries that this node answered; by default those of all nodes',
});

export const StatsQuery = z.object({ period: Period.default('24h'), node: OfNode });
export type StatsQuery = z.output<typeof StatsQuery>;

const Count = z.int().min(0);
const Percent = z.number().min(0).max(100);
const Millis = z.number().min(0);
const Counts = z.record(z.string(), Count);

/** Parts of a period whose statistics include rows that were removed from the log. */
export const ClearedPeriods = z.array(z.strictObject({ from: Timestamp, to: Timestamp })).meta({
  id: 'ClearedPeriods',
  description:
    'parts of the period in which rows were cleared from the query log, from the first to the last of them: counts still include these queries, but the log and lists of names and clients do not',
});
export type ClearedPeriods = z.infer<typeof ClearedPeriods>;

/** Summary of a period. */
export const StatsSummary = z
  .strictObject({
    queries_total: Count,
    queries_blocked: Count,
    block_rate: Percent,
    queries_rate_limited: Count,
    queries_repeated: Count.meta({
      description:
        'of the limited queries, those without a row in the log (repeats of a row): every other number includes them, but lists of names and unique_domains do not, because their names are not in the log',
    }),
    queries_not_logged: Count.meta({
      description: 'queries that are not in the log because their client or domain is excluded',
    }),
    queries_not_counted: Count.meta({
      description:
        'queries in the log that no other number includes, because statistics exclude their client or domain: the log has queries_total - queries_not_logged + queries_not_counted',
    }),
    log_cleared: ClearedPeriods,
    clients: Count,
    unique_domains: Count,
    unique_domains_is_estimate: z.boolean().meta({
      description:
        'not all names of the period could be kept, for example because of a flood of random names: counts of rare names in top lists may also be too low',
    }),
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
    queries_nodata: Count.meta({
      description:
        'of NOERROR, those whose answer has no record; rows from before this was recorded are not counted',
    }),
    queries_by_protocol: Counts,
    source_stats: Counts.meta({ description: 'blocked queries by the source that blocked them' }),
  })
  .meta({ id: 'StatsSummary' });
export type StatsSummary = z.infer<typeof StatsSummary>;

export const RateQuery = z.object({ unit: anyCase(['second', 'minute']).default('second') });
export type RateQuery = z.output<typeof RateQuery>;

export const QueryRate = z
  .strictObject({ queries: Count, rate: z.string().meta({ examples: ['1.5k q/s'] }) })
  .meta({ id: 'QueryRate' });
export type QueryRate = z.infer<typeof QueryRate>;

/** Intervals of a timeline. */
export const GRANULARITIES = ['minute', '15min', 'hour', 'day'] as const;
export type Granularity = (typeof GRANULARITIES)[number];

const TimeZone = z
  .string()
  .max(100)
  .refine(isTimeZone, 'expected a time zone such as Europe/Vienna')
  .meta({ examples: ['Europe/Vienna'] });

/** Query of the dashboard's bundle. */
export const DashboardQuery = z.object({
  period: Period.default('24h'),
  granularity: anyCase(GRANULARITIES).optional().meta({
    description: 'by default chosen to suit the period; minute for periods of at most two days',
  }),
  timezone: TimeZone.default('UTC').meta({ description: 'time zone in which hours and days begin' }),
  node: OfNode,
});
export type DashboardQuery = z.output<typeof DashboardQuery>;

export const TimelineQuery = DashboardQuery.extend({
  client: AddressOrNetwork.optional(),
  group_id: optionalQueryInt(1, MAX_ID),
});
export type TimelineQuery = z.output<typeof TimelineQuery>;

/** Queries by time, without gaps; the first and the last bucket contain only queries within the period. */
export const Timeline = z
  .strictObject({
    granularity: z.enum(GRANULARITIES),
    timezone: z.string(),
    log_cleared: ClearedPeriods,
    buckets: z.array(
      z.strictObject({
        timestamp: Timestamp.meta({ description: 'start' }),
        total: Count,
        blocked: Count,
        cached: Count,
        forwarded: Count.meta({ description: 'waited for an upstream, and not blocked' }),
        rate_limited: Count,
      }),
    ),
  })
  .meta({ id: 'Timeline' });
export type Timeline = z.infer<typeof Timeline>;

/** Selects a top list. */
export const TopQuery = z.object({
  limit: queryInt(1, 1000, 10),
  period: Period.default('24h'),
  client: AddressOrNetwork.optional(),
  group_id: optionalQueryInt(1, MAX_ID),
  node: OfNode,
});
export type TopQuery = z.output<typeof TopQuery>;

/** Selects a top list of clients. */
export const TopClientsQuery = TopQuery.extend({
  by: anyCase(['all', 'blocked'])
    .default('all')
    .meta({ description: 'selects and orders clients by all queries or by blocked ones' }),
});
export type TopClientsQuery = z.output<typeof TopClientsQuery>;

/** Most frequently queried names, in descending order. */
export const TopDomains = z
  .array(z.strictObject({ domain: z.string(), count: Count }))
  .meta({ id: 'TopDomains' });
export type TopDomains = z.infer<typeof TopDomains>;

/** Busiest clients, in descending order. */
export const TopClients = z
  .array(
    z.strictObject({
      ip_address: z.string(),
      ip: former(z.string(), 'ip_address'),
      hostname: z.string().nullable(),
      client_id: Id.nullable().meta({
        description:
          'the client that identified itself by its key, counted separately from others at its address',
      }),
      count: Count,
      blocked: Count,
    }),
  )
  .meta({ id: 'TopClients' });
export type TopClients = z.infer<typeof TopClients>;

/** Queries of a period by upstream, and blocked queries by list and by service, in descending order. */
export const StatsBreakdown = z
  .strictObject({
    queries_forwarded: Count.meta({ description: 'waited for an upstream, and not blocked' }),
    queries_blocked: Count,
    upstreams: z.array(
      z.strictObject({
        upstream: z.string().meta({ description: 'in the same form as in rows of the query log' }),
        count: Count,
        avg_time_ms: Millis.meta({ description: 'response time of these queries, from arrival to reply' }),
      }),
    ),
    blocked_by_list: z
      .array(
        z.strictObject({
          list_id: z.int().min(1),
          name: z.string().nullable().meta({ description: 'null = the list has been deleted' }),
          count: Count,
        }),
      )
      .meta({ description: 'a query counts for each list that has the rule that blocked it' }),
    blocked_by_service: z
      .array(z.strictObject({ service: z.string().meta({ description: 'name' }), count: Count }))
      .meta({ description: 'queries from before this was recorded are not counted' }),
  })
  .meta({ id: 'StatsBreakdown' });
export type StatsBreakdown = z.infer<typeof StatsBreakdown>;

export const ClientTimelineQuery = DashboardQuery.extend({ limit: queryInt(1, 20, 6) });
export type ClientTimelineQuery = z.output<typeof ClientTimelineQuery>;

/** Queries of the busiest clients by time, and queries of all other clients. */
export const ClientTimeline = z
  .strictObject({
    granularity: z.enum(GRANULARITIES),
    timezone: z.string(),
    log_cleared: ClearedPeriods,
    clients: z
      .array(
        z.strictObject({
          ip_address: z.string(),
          hostname: z.string().nullable(),
          client_id: Id.nullable().meta({
            description:
              'the client that identified itself by its key, counted separately from others at its address',
          }),
          total: Count.meta({ description: 'sum of all buckets' }),
        }),
      )
      .meta({ description: 'the busiest first' }),
    buckets: z.array(
      z.strictObject({
        timestamp: Timestamp.meta({ description: 'start' }),
        counts: z.array(Count).meta({ description: 'of each client, in the order of clients' }),
        others: Count.meta({ description: 'of all other clients' }),
      }),
    ),
  })
  .meta({
    id: 'ClientTimeline',
    description:
      'counted from the rows of the log: older queries, for which only counts are kept, are missing',
  });
export type ClientTimeline = z.infer<typeof ClientTimeline>;

/** Data of the dashboard. All figures except the rate and the cache counts cover the same queries. */
export const Dashboard = z
  .strictObject({
    stats: StatsSummary,
    rate: QueryRate,
    cache: CacheStats,
    timeline: Timeline,
    top_blocked: TopDomains,
    top_domains: TopDomains,
    top_clients: TopClients,
  })
  .meta({ id: 'Dashboard' });
export type Dashboard = z.infer<typeof Dashboard>;

/** The active compiled filter. */
export const BlockFilterStats = z
  .strictObject({
    blocked_domains: Count.meta({ description: 'of lists, and of services blocked for any group' }),
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
