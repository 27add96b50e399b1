/** HTTP of `{api}/dashboard`: what the first page shows, in one answer over one state of the log. */
import { periodMs } from '../../shared/api/fields.ts';
import { Dashboard, TimelineQuery } from '../../shared/api/stats-api.ts';
import type { Clock } from '../../shared/clock.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import type { LogSource } from '../query-log/reading/log-source.ts';
import { spanOf } from '../query-log/reading/period-start.ts';
import { uptimeSecs } from '../system/uptime.ts';
import { type CacheFigures, toCacheStats } from './cache-use.ts';
import { type ClientNames, withNames } from './client-names.ts';
import { type RateCounters, toQueryRate } from './rate-text.ts';
import { cacheUse, readSums, summarize, topClients, topDomains } from './stats-store.ts';
import { granularityOf, readTimeline } from './timeline.ts';

/** What these rows are made of. */
export interface DashboardRouteParts {
  readonly log: LogSource;
  readonly clock: Clock;
  readonly clients: ClientNames;
  readonly counters: RateCounters;
  readonly cache: CacheFigures;
  /** `clock.monotonicMs()` when the node started. */
  readonly startedAtMs: number;
}

/** Lines of each top list. */
const TOP = 10;

/** The row of the dashboard. */
export function dashboardRoutes(parts: DashboardRouteParts): Route[] {
  return [
    route({
      method: 'GET',
      path: '/dashboard',
      access: 'viewer',
      tag: 'Statistics',
      summary: 'Summary, rate, cache, timeline and top lists of a period in one answer',
      query: TimelineQuery,
      answer: Dashboard,
      handle: ({ query }) => readDashboard(parts, query),
    }),
  ];
}

async function readDashboard(
  parts: DashboardRouteParts,
  { period, granularity: wanted, timezone }: TimelineQuery,
): Promise<Dashboard> {
  const { log, clock, clients, counters, cache } = parts;
  const granularity = granularityOf(periodMs(period)!, wanted);
  const span = spanOf(clock.nowMs(), periodMs(period)!);
  const { sums, timeline } = await log.read(async (tx) => ({
    sums: await readSums(tx, span, log.onDamaged),
    timeline: await readTimeline(tx, { ...span, granularity, timezone }),
  }));
  return {
    stats: { ...summarize(sums), uptime_secs: uptimeSecs(parts) },
    rate: toQueryRate(counters, 'second'),
    cache: toCacheStats(cacheUse(sums.counts), cache),
    timeline,
    top_blocked: topDomains(sums.names, 'blocked', TOP),
    top_domains: topDomains(sums.names, 'allowed', TOP),
    top_clients: withNames(topClients(sums.clients, TOP), clients),
  };
}
