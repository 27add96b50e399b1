/** HTTP routes of `{api}/forward-zones`. A change is stored and active when the response is sent. */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import { upstream } from '../../../config/upstream-url.ts';
import { expectedInstead } from '../../../config/value-checks.ts';
import { IdParams } from '../../../shared/api/fields.ts';
import {
  ForwardZone,
  ForwardZoneCreateBody,
  ForwardZoneList,
  ForwardZoneUpdateBody,
} from '../../../shared/api/policy/forward-zones-api.ts';
import type { Author } from '../../api/caller.ts';
import { invalid } from '../../api/api-error.ts';
import { entity } from '../../api/entity.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { Database } from '../../storage/db/database.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import * as store from './forward-zone-store.ts';

const TAKEN = { 409: 'the zone already exists' };

const forwardZone = entity({
  path: '/forward-zones/{id}',
  params: IdParams,
  answer: ForwardZone,
  body: ForwardZoneUpdateBody,
  read: (db, { id }) => store.readForwardZone(db, id),
});

/** The routes of forward zones. */
export function forwardZoneRoutes(context: { database: Database; policy: PolicyChanges }): Route[] {
  return [
    listForwardZones(context.database),
    createForwardZone(context.policy),
    readForwardZone(context.database),
    updateForwardZone(context.policy),
    deleteForwardZone(context.policy),
  ];
}

function listForwardZones(database: Database): Route {
  return route({
    method: 'GET',
    path: '/forward-zones',
    access: 'viewer',
    tag: 'Forwarding',
    summary: 'All conditional forward zones',
    answer: ForwardZoneList,
    handle: () => store.listForwardZones(database),
  });
}

function readForwardZone(database: Database): Route {
  return route({
    method: 'GET',
    path: '/forward-zones/{id}',
    access: 'viewer',
    tag: 'Forwarding',
    summary: 'One forward zone',
    params: IdParams,
    answer: ForwardZone,
    entity: forwardZone,
    handle: ({ params }) => store.readForwardZone(database, params.id),
  });
}

function createForwardZone(policy: PolicyChanges): Route {
  return route({
    method: 'POST',
    path: '/forward-zones',
    access: 'admin',
    tag: 'Forwarding',
    summary: 'Create a forward zone; the zone with the longest matching name applies',
    body: ForwardZoneCreateBody,
    status: 201,
    answer: ForwardZone,
    entity: forwardZone,
    errors: TAKEN,
    handle: (request) => {
      refuseBadServers(request.body.servers);
      return change(policy, authorOf(request), 'created', (tx) => store.insertForwardZone(tx, request.body));
    },
  });
}

function updateForwardZone(policy: PolicyChanges): Route {
  return route({
    method: 'PUT',
    path: '/forward-zones/{id}',
    access: 'admin',
    tag: 'Forwarding',
    summary: 'Change a forward zone; absent fields keep their value',
    params: IdParams,
    body: ForwardZoneUpdateBody,
    answer: ForwardZone,
    entity: forwardZone,
    errors: TAKEN,
    handle: (request) => {
      const { body, params } = request;
      refuseBadServers(body.servers ?? []);
      return change(policy, authorOf(request), 'changed', (tx) =>
        store.updateForwardZone(tx, params.id, body),
      );
    },
  });
}

function deleteForwardZone(policy: PolicyChanges): Route {
  return route({
    method: 'DELETE',
    path: '/forward-zones/{id}',
    access: 'admin',
    tag: 'Forwarding',
    summary: 'Delete a forward zone; connections to its servers are closed',
    params: IdParams,
    entity: forwardZone,
    handle: async (request) => {
      await change(policy, authorOf(request), 'deleted', (tx) =>
        store.deleteForwardZone(tx, request.params.id),
      );
    },
  });
}

function refuseBadServers(servers: readonly string[]): void {
  const faults = servers.flatMap((server, index) => {
    const expected = expectedInstead(upstream, server);
    return expected === undefined ? [] : [{ path: `servers.${index}`, message: `expected ${expected}` }];
  });
  if (faults.length > 0) throw invalid(faults);
}

async function change(
  policy: PolicyChanges,
  author: Author,
  verb: 'created' | 'changed' | 'deleted',
  work: (tx: Queryable) => Promise<ForwardZone>,
): Promise<ForwardZone> {
  return policy.change(author, async (tx) => {
    const result = await work(tx);
    const subject = codedSubject('forward_zone', { name: result.zone });
    return { result, summary: { subject, action: codedAction(verb) } };
  });
}
