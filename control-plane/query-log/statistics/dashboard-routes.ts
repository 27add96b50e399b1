/**
 * HTTP routes of `{api}/dashboard`: the data of the dashboard's first page in one response, from one consistent state
 * of the log.
 */
import { periodMs } from '../../../shared/api/fields.ts';
import { Dashboard, DashboardQuery } from '../../../shared/api/stats-api.ts';
import { type Clock, uptimeSecs } from '../../../shared/clock.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { AbortableReader } from '../reading/log-source.ts';
import { spanOf } from '../reading/period-start.ts';
import { type CacheFigures, toCacheStats } from './cache-use.ts';
import { type ClientNames, withNames } from './client-names.ts';
import { type RateCounters, toQueryRate } from './rate-text.ts';
import type { readDashboard } from './dashboard-store.ts';
import { granularityOf } from './timeline.ts';

/** The route of the dashboard. */
export function dashboardRoutes(context: {
  stats: { dashboard: AbortableReader<typeof readDashboard> };
  clock: Clock;
  clients: ClientNames;
  rate: RateCounters;
  cache: CacheFigures;
  startedAtMs: number;
}): Route[] {
  const { stats, clock, clients, rate, cache, startedAtMs } = context;
  return [
    route({
      method: 'GET',
      path: '/dashboard',
      access: 'viewer',
      tag: 'Statistics',
      summary: 'Summary, rate, cache, timeline and top lists of a period in one response',
      query: DashboardQuery,
      answer: Dashboard,
      handle: async ({ query, gone }) => {
        const { period, granularity: wanted, timezone, node } = query;
        const granularity = granularityOf(periodMs(period)!, wanted);
        const request = { ...spanOf(clock.nowMs(), periodMs(period)!), granularity, timezone, node };
        const logged = await stats.dashboard(request, gone);
        return {
          stats: { ...logged.summary, uptime_secs: uptimeSecs({ clock, startedAtMs }) },
          rate: toQueryRate(rate, 'second'),
          cache: toCacheStats(logged.cache, cache),
          timeline: logged.timeline,
          top_blocked: logged.topBlocked,
          top_domains: logged.topDomains,
          top_clients: withNames(logged.topClients, clients),
        };
      },
    }),
  ];
}
