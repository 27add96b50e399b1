/** HTTP of `{api}/stats/top_*`. */
import { periodMs } from '../../shared/api/fields.ts';
import { TopClients, TopDomains, TopQuery } from '../../shared/api/stats-api.ts';
import type { Clock } from '../../shared/clock.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import { spanOf } from '../query-log/reading/period-start.ts';
import { type ClientNames, withNames } from './client-names.ts';
import type { StatsReader } from './stats-reader.ts';
import type { TopRequest } from './stats-store.ts';

/** What these rows are made of. */
export interface TopRouteParts {
  readonly stats: Pick<StatsReader, 'topDomains' | 'topClients'>;
  readonly clock: Clock;
  readonly clients: ClientNames;
}

/** Rows of the top lists. */
export function topRoutes(parts: TopRouteParts): Route[] {
  return [
    listTopDomains(parts, '/stats/top_blocked', 'blocked', 'Names that were blocked most often'),
    listTopDomains(
      parts,
      '/stats/top_domains',
      'allowed',
      'Names that were asked for most often, not blocked',
    ),
    listTopClients(parts),
  ];
}

function listTopDomains(
  { stats, clock }: TopRouteParts,
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
    handle: async ({ query, gone }) => [...(await stats.topDomains(requestOf(query, clock), which, gone))],
  });
}

function listTopClients({ stats, clock, clients }: TopRouteParts): Route {
  return route({
    method: 'GET',
    path: '/stats/top_clients',
    access: 'viewer',
    tag: 'Statistics',
    summary: 'Clients that asked most often',
    query: TopQuery,
    answer: TopClients,
    handle: async ({ query, gone }) =>
      withNames(await stats.topClients(requestOf(query, clock), gone), clients),
  });
}

function requestOf({ period, ...request }: TopQuery, clock: Clock): TopRequest {
  return { ...request, ...spanOf(clock.nowMs(), periodMs(period)!) };
}
