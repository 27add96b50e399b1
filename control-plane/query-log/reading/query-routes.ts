/** HTTP of `{api}/queries`. */
import { periodMs } from '../../../shared/api/fields.ts';
import { QueryLogPage, QueryLogQuery } from '../../../shared/api/query-log-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { invalid } from '../../api/api-error.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import { periodStartMs } from './period-start.ts';
import type { QueryLogReader } from './query-log-reader.ts';

/** What these rows are made of. */
export interface QueryRouteParts {
  readonly clock: Clock;
  readonly queryLog: QueryLogReader;
}

/** Rows of the query log. */
export function queryRoutes(parts: QueryRouteParts): Route[] {
  return [listQueries(parts)];
}

function listQueries({ clock, queryLog }: QueryRouteParts): Route {
  return route({
    method: 'GET',
    path: '/queries',
    access: 'viewer',
    tag: 'Statistics',
    summary: 'The query log, newest first',
    query: QueryLogQuery,
    answer: QueryLogPage,
    handle: ({ query }) => {
      const { period, from, to, ...filter } = query;
      if (period !== undefined && from !== undefined)
        throw invalid([{ path: 'period', message: 'expected either period or from, not both' }]);
      if (from !== undefined && to !== undefined && Date.parse(from) >= Date.parse(to))
        throw invalid([{ path: 'to', message: 'expected a time after from' }]);
      const startMs = period === undefined ? undefined : periodStartMs(clock.nowMs(), periodMs(period)!);
      return queryLog.page({ ...filter, from: toDate(startMs ?? from), to: toDate(to) });
    },
  });
}

function toDate(moment: string | number | undefined): Date | null {
  return moment === undefined ? null : new Date(moment);
}
