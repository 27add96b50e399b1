/** HTTP routes for signs that devices bypass Weir: `{api}/clients/silent` and `{api}/clients/resolver-lookups`. */
import { periodMs } from '../../../../shared/api/fields.ts';
import {
  ResolverLookupList,
  ResolverLookupQuery,
  SilentDeviceList,
  SilentDeviceQuery,
} from '../../../../shared/api/policy/clients-api.ts';
import type { Clock } from '../../../../shared/clock.ts';
import { route } from '../../../api/route.ts';
import type { Route } from '../../../api/route.ts';
import { spanOf } from '../../../query-log/reading/period-start.ts';
import type { QueryLogReader } from '../../../query-log/reading/query-log-reader.ts';
import type { LogQuestions } from '../../../query-log/log-search/log-questions.ts';
import type { ClientDirectory } from '../client-directory.ts';
import { resolverLookups } from './resolver-lookups.ts';
import { silentDevices } from './silent-devices.ts';
import type { NetworkSights } from './silent-devices.ts';

const HOUR_MS = 3_600_000;

export function bypassRoutes(context: {
  clients: ClientDirectory;
  clock: Clock;
  network: () => NetworkSights;
  stats: Pick<LogQuestions, 'namesBelow'>;
  queryLog: Pick<QueryLogReader, 'page'>;
}): Route[] {
  return [
    listSilentDevices(context.clients, context.clock, context.network),
    listResolverLookups(context.stats, context.queryLog, context.clock),
  ];
}

function listSilentDevices(clients: ClientDirectory, clock: Clock, network: () => NetworkSights): Route {
  return route({
    method: 'GET',
    path: '/clients/silent',
    access: 'viewer',
    tag: 'Clients',
    summary: 'Devices in the network of this node that have sent no queries for some time',
    query: SilentDeviceQuery,
    answer: SilentDeviceList,
    handle: ({ query }) => silentDevices(network(), clients, clock.nowMs() - query.hours * HOUR_MS),
  });
}

function listResolverLookups(
  stats: Pick<LogQuestions, 'namesBelow'>,
  queryLog: Pick<QueryLogReader, 'page'>,
  clock: Clock,
): Route {
  return route({
    method: 'GET',
    path: '/clients/resolver-lookups',
    access: 'viewer',
    tag: 'Clients',
    summary:
      'Clients that looked up a public resolver for encrypted DNS, which they may use instead of this ' +
      'server',
    query: ResolverLookupQuery,
    answer: ResolverLookupList,
    handle: ({ query, gone }) =>
      resolverLookups(stats, queryLog, spanOf(clock.nowMs(), periodMs(query.period)!), gone),
  });
}
