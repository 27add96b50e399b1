/** HTTP of `{api}/stats`, from the database, and `{api}/stats/rate`, from memory. */
import { periodMs } from '../../shared/api/fields.ts';
import { QueryRate, RateQuery, StatsQuery, StatsSummary } from '../../shared/api/stats-api.ts';
import type { Clock } from '../../shared/clock.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import { spanOf } from '../query-log/reading/period-start.ts';
import { uptimeSecs } from '../system/uptime.ts';
import { type RateCounters, toQueryRate } from './rate-text.ts';
import type { StatsReader } from './stats-reader.ts';

/** What these rows are made of. */
export interface StatsRouteParts {
  readonly stats: Pick<StatsReader, 'summary'>;
  readonly clock: Clock;
  readonly counters: RateCounters;
  /** `clock.monotonicMs()` when the node started. */
  readonly startedAtMs: number;
}

/** Rows of statistics. */
export function statsRoutes(parts: StatsRouteParts): Route[] {
  return [readSummary(parts), readRate(parts)];
}

function readSummary(parts: StatsRouteParts): Route {
  return route({
    method: 'GET',
    path: '/stats',
    access: 'viewer',
    tag: 'Statistics',
    summary: 'Summary of a period',
    query: StatsQuery,
    answer: StatsSummary,
    handle: async ({ query, gone }) => {
      const span = { ...spanOf(parts.clock.nowMs(), periodMs(query.period)!), node: query.node };
      return { ...(await parts.stats.summary(span, gone)), uptime_secs: uptimeSecs(parts) };
    },
  });
}

function readRate({ counters }: StatsRouteParts): Route {
  return route({
    method: 'GET',
    path: '/stats/rate',
    access: 'viewer',
    tag: 'Statistics',
    summary: 'Queries of the last second or minute on this node',
    query: RateQuery,
    answer: QueryRate,
    handle: ({ query }) => toQueryRate(counters, query.unit),
  });
}
