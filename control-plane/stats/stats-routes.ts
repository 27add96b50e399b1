/** HTTP of `{api}/stats`, from the database, and `{api}/stats/rate`, from memory. */
import { periodMs } from '../../shared/api/fields.ts';
import { QueryRate, RateQuery, StatsQuery, StatsSummary } from '../../shared/api/stats-api.ts';
import type { Clock } from '../../shared/clock.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import { type LogSource } from '../query-log/reading/log-source.ts';
import { spanOf } from '../query-log/reading/period-start.ts';
import { uptimeSecs } from '../system/uptime.ts';
import { readSummary as readLoggedSummary } from './stats-store.ts';

/** What these rows are made of. */
export interface StatsRouteParts {
  readonly log: LogSource;
  readonly clock: Clock;
  /** Queries of the last whole second, or of the last sixty, on this node. */
  readonly counters: { recentQueries(unit: 'second' | 'minute'): number };
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
    handle: async ({ query }) => {
      const span = spanOf(parts.clock.nowMs(), periodMs(query.period)!);
      const summary = await readLoggedSummary(parts.log, span);
      return { ...summary, uptime_secs: uptimeSecs(parts) };
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
    handle: ({ query }) => {
      const queries = counters.recentQueries(query.unit);
      return { queries, rate: `${shortNumber(queries)} ${query.unit === 'second' ? 'q/s' : 'q/min'}` };
    },
  });
}

/** A count in at most four digits: 950, 1.5k, 12k, 3.4M. */
export function shortNumber(count: number): string {
  const units = ['', 'k', 'M', 'G'];
  let value = count;
  let unit = 0;
  // 999.5 would be rounded to 1000, which is the next unit's 1.
  for (; value >= 999.5 && unit < units.length - 1; unit++) value /= 1000;
  const text = unit === 0 || value >= 9.95 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, '');
  return text + units[unit]!;
}
