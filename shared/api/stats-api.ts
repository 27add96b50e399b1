/** Requests and responses of `{api}/stats*` and `{api}/block-filter/stats`. */
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
  description: 'only queries that this node answered; by default the queries of all nodes',
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
    'parts of the period in which rows were removed from the query log, from the first to the last ' +
    'removed row. Counts still include these queries, but the log and top lists of names and clients do ' +
    'not',
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
        'number of the limited queries that share the row of another query in the log, see `repeats` of a row. ' +
        'All counts include these queries, except top lists of names and unique_domains, because their ' +
        'names are unknown',
    }),
    queries_not_logged: Count.meta({
      description:
        'number of queries that are not in the log because their client or domain is excluded from it',
    }),
    queries_not_counted: Count.meta({
      description:
        'number of queries in the log that no other count includes, because their client or domain is ' +
        'excluded from statistics. The log has queries_total - queries_not_logged + queries_not_counted ' +
        'queries',
    }),
    log_cleared: ClearedPeriods,
    clients: Count,
    unique_domains: Count,
    unique_domains_is_estimate: z.boolean().meta({
      description:
        'whether unique_domains is an estimate, because there were too many names in the period, for ' +
        'example in a flood of random names. Top lists may then count rare names too low',
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
        'number of NOERROR answers without an answer record; rows from before Weir recorded this are not ' +
        'counted',
    }),
    queries_by_protocol: Counts,
    source_stats: Counts.meta({ description: 'blocked queries by the kind of source that blocked them' }),
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

/** Query parameters of the data of the dashboard. */
export const DashboardQuery = z.object({
  period: Period.default('24h'),
  granularity: anyCase(GRANULARITIES).optional().meta({
    description:
      'length of an interval; by default it suits the period; minute for periods of at most two days',
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

/**
 * Numbers of queries by interval, without gaps; the first and the last interval count only queries within the period.
 */
export const Timeline = z
  .strictObject({
    granularity: z.enum(GRANULARITIES),
    timezone: z.string(),
    log_cleared: ClearedPeriods,
    buckets: z.array(
      z.strictObject({
        timestamp: Timestamp.meta({ description: 'start of the interval' }),
        total: Count,
        blocked: Count,
        cached: Count,
        forwarded: Count.meta({ description: 'queries that waited for an upstream and were not blocked' }),
        rate_limited: Count,
      }),
    ),
  })
  .meta({ id: 'Timeline' });
export type Timeline = z.infer<typeof Timeline>;

/** Query parameters of a top list. */
export const TopQuery = z.object({
  limit: queryInt(1, 1000, 10),
  period: Period.default('24h'),
  client: AddressOrNetwork.optional(),
  group_id: optionalQueryInt(1, MAX_ID),
  node: OfNode,
});
export type TopQuery = z.output<typeof TopQuery>;

/** Query parameters of a top list of clients. */
export const TopClientsQuery = TopQuery.extend({
  by: anyCase(['all', 'blocked'])
    .default('all')
    .meta({
      description:
        'all: selects the clients with the most queries; blocked: selects those with the most blocked ' +
        'queries',
    }),
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
          'id of the client that identified itself by its key; such queries are counted separately from ' +
          'others of the same address',
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
    queries_forwarded: Count.meta({
      description: 'number of queries that waited for an upstream and were not blocked',
    }),
    queries_blocked: Count,
    upstreams: z.array(
      z.strictObject({
        upstream: z.string().meta({ description: 'server in the same form as in rows of the query log' }),
        count: Count,
        avg_time_ms: Millis.meta({
          description: 'mean response time of the queries, from the arrival of a query to its answer',
        }),
      }),
    ),
    blocked_by_list: z
      .array(
        z.strictObject({
          list_id: z.int().min(1),
          name: z.string().nullable().meta({ description: 'name of the list; null = the list was deleted' }),
          count: Count,
        }),
      )
      .meta({
        description:
          'blocked queries by list; a query counts for each list that has the rule that blocked it',
      }),
    blocked_by_service: z
      .array(
        z.strictObject({ service: z.string().meta({ description: 'name of the service' }), count: Count }),
      )
      .meta({
        description:
          'blocked queries by service; queries from before Weir recorded the service are not counted',
      }),
  })
  .meta({ id: 'StatsBreakdown' });
export type StatsBreakdown = z.infer<typeof StatsBreakdown>;

export const ClientTimelineQuery = DashboardQuery.extend({ limit: queryInt(1, 20, 6) });
export type ClientTimelineQuery = z.output<typeof ClientTimelineQuery>;

/** Numbers of queries by interval: of each of the busiest clients, and of all other clients together. */
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
              'id of the client, if it identified itself by its key; queries with a key are counted separately ' +
              'from other queries of the same address',
          }),
          total: Count.meta({ description: 'sum of all buckets' }),
        }),
      )
      .meta({ description: 'the clients, the one with most queries first' }),
    buckets: z.array(
      z.strictObject({
        timestamp: Timestamp.meta({ description: 'start of the interval' }),
        counts: z
          .array(Count)
          .meta({ description: 'number of queries of each client, in the order of `clients`' }),
        others: Count.meta({ description: 'number of queries of all other clients' }),
      }),
    ),
  })
  .meta({
    id: 'ClientTimeline',
    description:
      'Counted from the rows of the log; older queries, of which only counts are kept, are missing',
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

/** The compiled rules that are active. */
export const BlockFilterStats = z
  .strictObject({
    blocked_domains: Count.meta({
      description: 'number of names blocked by lists, or by services that are blocked for at least one group',
    }),
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
