/** HTTP of `{api}/queries`. */
import { QueryLogPage, QueryLogQuery } from '../../../shared/api/query-log-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import { type KnownClients, selectionOf } from './log-request.ts';
import type { QueryLogReader } from './query-log-reader.ts';

/** Rows of the query log. */
export function queryRoutes(context: {
  clock: Clock;
  clients: KnownClients;
  queryLog: Pick<QueryLogReader, 'page'>;
}): Route[] {
  return [listQueries(context.clock, context.clients, context.queryLog)];
}

function listQueries(clock: Clock, clients: KnownClients, queryLog: Pick<QueryLogReader, 'page'>): Route {
  return route({
    method: 'GET',
    path: '/queries',
    access: 'viewer',
    tag: 'Statistics',
    summary: 'The query log, newest first',
    query: QueryLogQuery,
    answer: QueryLogPage,
    handle: ({ query, gone }) => {
      const { limit, offset, cursor, ...filters } = query;
      return queryLog.page({ limit, offset, cursor, ...selectionOf(filters, clock.nowMs(), clients) }, gone);
    },
  });
}
