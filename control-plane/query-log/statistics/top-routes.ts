/** HTTP routes of `{api}/stats/top_*`. */
import { periodMs } from '../../../shared/api/fields.ts';
import { TopClients, TopClientsQuery, TopDomains, TopQuery } from '../../../shared/api/stats-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { AbortableReader } from '../reading/log-source.ts';
import { spanOf } from '../reading/period-start.ts';
import { type ClientNames, withNames } from './client-names.ts';
import type { readTopClients, readTopDomains, TopRequest } from './stats-store.ts';

interface TopReader {
  readonly topDomains: AbortableReader<typeof readTopDomains>;
  readonly topClients: AbortableReader<typeof readTopClients>;
}

/** The routes of the top lists. */
export function topRoutes(context: { stats: TopReader; clock: Clock; clients: ClientNames }): Route[] {
  const { stats, clock, clients } = context;
  return [
    listTopDomains(stats, clock, '/stats/top_blocked', 'blocked', 'Most frequently blocked names'),
    listTopDomains(
      stats,
      clock,
      '/stats/top_domains',
      'allowed',
      'Most frequently queried names that were not blocked',
    ),
    listTopClients(stats, clock, clients),
  ];
}

function listTopDomains(
  stats: TopReader,
  clock: Clock,
  path: string,
  which: 'blocked' | 'allowed',
  summary: string,
): Route {
  return route({
    method: 'GET',
    path,
    access: 'viewer',
    tag: 'Statistics',
    summary,
    query: TopQuery,
    answer: TopDomains,
    handle: ({ query, gone }) => stats.topDomains({ ...requestOf(query, clock), which }, gone),
  });
}

function listTopClients(stats: TopReader, clock: Clock, clients: ClientNames): Route {
  return route({
    method: 'GET',
    path: '/stats/top_clients',
    access: 'viewer',
    tag: 'Statistics',
    summary: 'Clients with the most queries, or with the most blocked queries',
    query: TopClientsQuery,
    answer: TopClients,
    handle: async ({ query: { by, ...query }, gone }) =>
      withNames(await stats.topClients({ ...requestOf(query, clock), by }, gone), clients),
  });
}

function requestOf({ period, ...request }: TopQuery, clock: Clock): TopRequest {
  return { ...request, ...spanOf(clock.nowMs(), periodMs(period)!) };
}
