/** HTTP of the signs that a device passes this node by: `{api}/clients/silent` and `{api}/clients/resolver-lookups`. */
import { periodMs } from '../../../shared/api/fields.ts';
import {
  ResolverLookupList,
  ResolverLookupQuery,
  SilentDeviceList,
  SilentDeviceQuery,
} from '../../../shared/api/policy/clients-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import { spanOf } from '../../query-log/reading/period-start.ts';
import type { ClientDirectory } from '../client-directory.ts';
import { resolverLookups } from './resolver-lookups.ts';
import type { ResolverLookupParts } from './resolver-lookups.ts';
import { silentDevices } from './silent-devices.ts';
import type { NetworkSights } from './silent-devices.ts';

const HOUR_MS = 3_600_000;

/** What these rows are made of. */
export interface BypassRouteParts extends ResolverLookupParts {
  readonly clients: ClientDirectory;
  readonly clock: Clock;
  readonly network: () => NetworkSights;
}

/** Rows of both signs. */
export function bypassRoutes(parts: BypassRouteParts): Route[] {
  return [listSilentDevices(parts), listResolverLookups(parts)];
}

function listSilentDevices({ clients, clock, network }: BypassRouteParts): Route {
  return route({
    method: 'GET',
    path: '/clients/silent',
    access: 'viewer',
    tag: 'Clients',
    summary: 'Devices in the network of this node that asked it nothing for some time',
    query: SilentDeviceQuery,
    answer: SilentDeviceList,
    handle: ({ query }) => silentDevices(network(), clients, clock.nowMs() - query.hours * HOUR_MS),
  });
}

function listResolverLookups({ clock, ...parts }: BypassRouteParts): Route {
  return route({
    method: 'GET',
    path: '/clients/resolver-lookups',
    access: 'viewer',
    tag: 'Clients',
    summary: 'Clients that looked up a public encrypted resolver, which they may ask instead',
    query: ResolverLookupQuery,
    answer: ResolverLookupList,
    handle: ({ query, gone }) => resolverLookups(parts, spanOf(clock.nowMs(), periodMs(query.period)!), gone),
  });
}
