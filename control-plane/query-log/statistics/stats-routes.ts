/** HTTP routes of `{api}/stats`, from the database, and `{api}/stats/rate`, from memory. */
import { periodMs } from '../../../shared/api/fields.ts';
import { QueryRate, RateQuery, StatsQuery, StatsSummary } from '../../../shared/api/stats-api.ts';
import { type Clock, uptimeSecs } from '../../../shared/clock.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { AbortableReader } from '../reading/log-source.ts';
import { spanOf } from '../reading/period-start.ts';
import { type RateCounters, toQueryRate } from './rate-text.ts';
import type { readSummary } from './stats-store.ts';

interface SummaryReader {
  readonly summary: AbortableReader<typeof readSummary>;
}

export function statsRoutes(context: {
  stats: SummaryReader;
  clock: Clock;
  rate: RateCounters;
  startedAtMs: number;
}): Route[] {
  const { stats, clock, rate, startedAtMs } = context;
  return [getSummary(stats, clock, startedAtMs), readRate(rate)];
}

function getSummary(stats: SummaryReader, clock: Clock, startedAtMs: number): Route {
  return route({
    method: 'GET',
    path: '/stats',
    access: 'viewer',
    tag: 'Statistics',
    summary: 'Number of queries of a period, by outcome',
    query: StatsQuery,
    answer: StatsSummary,
    handle: async ({ query, gone }) => {
      const span = { ...spanOf(clock.nowMs(), periodMs(query.period)!), node: query.node };
      return { ...(await stats.summary(span, gone)), uptime_secs: uptimeSecs({ clock, startedAtMs }) };
    },
  });
}

function readRate(rate: RateCounters): Route {
  return route({
    method: 'GET',
    path: '/stats/rate',
    access: 'viewer',
    tag: 'Statistics',
    summary: 'Number of queries that this node answered in the last second or minute',
    query: RateQuery,
    answer: QueryRate,
    handle: ({ query }) => toQueryRate(rate, query.unit),
  });
}
