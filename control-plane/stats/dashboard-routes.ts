/** HTTP of `{api}/dashboard`: what the first page shows, in one answer over one state of the log. */
import { periodMs } from '../../shared/api/fields.ts';
import { Dashboard, DashboardQuery } from '../../shared/api/stats-api.ts';
import type { Clock } from '../../shared/clock.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import { spanOf } from '../query-log/reading/period-start.ts';
import { uptimeSecs } from '../system/uptime.ts';
import { type CacheFigures, toCacheStats } from './cache-use.ts';
import { type ClientNames, withNames } from './client-names.ts';
import { type RateCounters, toQueryRate } from './rate-text.ts';
import type { StatsReader } from './stats-reader.ts';
import { granularityOf, timelineOf } from './timeline.ts';

/** What these rows are made of. */
export interface DashboardRouteParts {
  readonly stats: Pick<StatsReader, 'dashboard'>;
  readonly clock: Clock;
  readonly clients: ClientNames;
  readonly counters: RateCounters;
  readonly cache: CacheFigures;
  /** `clock.monotonicMs()` when the node started. */
  readonly startedAtMs: number;
}

/** The row of the dashboard. */
export function dashboardRoutes(parts: DashboardRouteParts): Route[] {
  return [
    route({
      method: 'GET',
      path: '/dashboard',
      access: 'viewer',
      tag: 'Statistics',
      summary: 'Summary, rate, cache, timeline and top lists of a period in one answer',
      query: DashboardQuery,
      answer: Dashboard,
      handle: ({ query, gone }) => readDashboard(parts, query, gone),
    }),
  ];
}

async function readDashboard(
  parts: DashboardRouteParts,
  { period, granularity: wanted, timezone, node }: DashboardQuery,
  gone: AbortSignal,
): Promise<Dashboard> {
  const { stats, clock, clients, counters, cache } = parts;
  const granularity = granularityOf(periodMs(period)!, wanted);
  const request = { ...spanOf(clock.nowMs(), periodMs(period)!), granularity, timezone, node };
  const logged = await stats.dashboard(request, gone);
  return {
    stats: { ...logged.summary, uptime_secs: uptimeSecs(parts) },
    rate: toQueryRate(counters, 'second'),
    cache: toCacheStats(logged.cache, cache),
    timeline: timelineOf(request, logged.timeline),
    top_blocked: [...logged.topBlocked],
    top_domains: [...logged.topDomains],
    top_clients: withNames(logged.topClients, clients),
  };
}
