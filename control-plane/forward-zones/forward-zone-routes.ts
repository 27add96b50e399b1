/** HTTP of `{api}/forward-zones`. A change is in the database and in force when the answer is sent. */
import { upstream } from '../../config/upstream-url.ts';
import { expectedInstead } from '../../config/value-checks.ts';
import type { IdParams } from '../../shared/api/fields.ts';
import type {
  ForwardZone,
  ForwardZoneCreate,
  ForwardZoneUpdate,
} from '../../shared/api/policy/forward-zones-api.ts';
import { invalid } from '../api/api-error.ts';
import type { Queryable } from '../db/database.ts';
import type { ApiContext } from '../api/api-context.ts';
import { authorOf } from '../api/route.ts';
import type { RouteRequest } from '../api/route.ts';
import * as store from './forward-zone-store.ts';

/** GET forward-zones */
export function listForwardZones({ database }: ApiContext): Promise<ForwardZone[]> {
  return store.listForwardZones(database);
}

/** GET forward-zones/{id} */
export function readForwardZone(
  { database }: ApiContext,
  { params }: RouteRequest<IdParams>,
): Promise<ForwardZone> {
  return store.readForwardZone(database, params.id);
}

/** POST forward-zones */
export function createForwardZone(
  context: ApiContext,
  request: RouteRequest<unknown, unknown, ForwardZoneCreate>,
): Promise<ForwardZone> {
  refuseBadServers(request.body.servers);
  return change(context, authorOf(request), 'created', (tx) => store.insertForwardZone(tx, request.body));
}

/** PUT forward-zones/{id} */
export function updateForwardZone(
  context: ApiContext,
  request: RouteRequest<IdParams, unknown, ForwardZoneUpdate>,
): Promise<ForwardZone> {
  const { body, params } = request;
  refuseBadServers(body.servers ?? []);
  return change(context, authorOf(request), 'changed', (tx) => store.updateForwardZone(tx, params.id, body));
}

/** DELETE forward-zones/{id} */
export async function deleteForwardZone(context: ApiContext, request: RouteRequest<IdParams>): Promise<void> {
  await change(context, authorOf(request), 'deleted', (tx) => store.deleteForwardZone(tx, request.params.id));
}

function refuseBadServers(servers: readonly string[]): void {
  const faults = servers.flatMap((server, index) => {
    const expected = expectedInstead(upstream, server);
    return expected === undefined ? [] : [{ path: `servers.${index}`, message: `expected ${expected}` }];
  });
  if (faults.length > 0) throw invalid(faults);
}

async function change(
  { policy }: ApiContext,
  author: string,
  verb: string,
  work: (tx: Queryable) => Promise<ForwardZone>,
): Promise<ForwardZone> {
  return policy.change(author, async (tx) => {
    const result = await work(tx);
    return { result, summary: `forward zone ${result.zone}: ${verb}` };
  });
}
