/** HTTP routes of `{api}/queries`. */
import {
  LoggedQuery,
  LoggedQueryParams,
  QueryLogPage,
  QueryLogQuery,
} from '../../../shared/api/query-log-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { notFound } from '../../api/api-error.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import { type KnownClients, selectionOf } from './log-request.ts';
import type { QueryLogReader } from './query-log-reader.ts';

/** The routes of the query log. */
export function queryRoutes(context: {
  clock: Clock;
  clients: KnownClients;
  queryLog: Pick<QueryLogReader, 'page' | 'row'>;
}): Route[] {
  return [listQueries(context.clock, context.clients, context.queryLog), readQuery(context.queryLog)];
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

function readQuery(queryLog: Pick<QueryLogReader, 'row'>): Route {
  return route({
    method: 'GET',
    path: '/queries/{id}',
    access: 'viewer',
    tag: 'Statistics',
    summary: 'One row of the query log',
    params: LoggedQueryParams,
    answer: LoggedQuery,
    handle: async ({ params, gone }) => {
      const id = Number(params.id);
      const row = Number.isSafeInteger(id) ? await queryLog.row(id, gone) : null;
      if (row === null) throw notFound(`query ${params.id}`);
      return row;
    },
  });
}
