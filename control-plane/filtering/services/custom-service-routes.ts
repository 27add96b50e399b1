/** HTTP routes of `{api}/custom-services`: services that users define. `service-routes.ts` blocks them. */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import type { CodedChange } from '../../../shared/policy/changes/change-codes.ts';
import {
  CustomService,
  CustomServiceCreateBody,
  CustomServiceDeleteQuery,
  CustomServiceList,
  CustomServiceUpdateBody,
  ServiceParams,
} from '../../../shared/api/policy/services-api.ts';
import { notFound } from '../../api/api-error.ts';
import { entity } from '../../api/entity.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { Database, Queryable } from '../../storage/db/database.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import * as store from './service-store.ts';

/** Enough for 10,000 domains of maximum length. */
const CUSTOM_SERVICE_BYTES = 4_194_304;

const customService = entity({
  path: '/custom-services/{service_id}',
  params: ServiceParams,
  answer: CustomService,
  body: CustomServiceUpdateBody,
  read: (db, params) => existing(db, params),
});

/** The routes of custom services. */
export function customServiceRoutes(context: { database: Database; policy: PolicyChanges }): Route[] {
  return [
    ...['/services/custom', '/custom-services'].map((path) => createCustomService(context.policy, path)),
    listCustomServices(context.database),
    readCustomService(context.database),
    updateCustomService(context.policy),
    deleteCustomService(context.policy),
  ];
}

function listCustomServices(database: Database): Route {
  return route({
    method: 'GET',
    path: '/custom-services',
    access: 'viewer',
    tag: 'Services',
    summary: 'All custom services',
    answer: CustomServiceList,
    handle: () => store.listCustom(database),
  });
}

function readCustomService(database: Database): Route {
  return route({
    method: 'GET',
    path: '/custom-services/{service_id}',
    access: 'viewer',
    tag: 'Services',
    summary: 'One custom service',
    params: ServiceParams,
    answer: CustomService,
    entity: customService,
    handle: ({ params }) => existing(database, params),
  });
}

function createCustomService(policy: PolicyChanges, path: string): Route {
  return route({
    method: 'POST',
    path,
    access: 'admin',
    tag: 'Services',
    summary: 'Define a service',
    body: CustomServiceCreateBody,
    status: 201,
    answer: CustomService,
    entity: customService,
    errors: { 409: 'another service has this name' },
    bodyLimitBytes: CUSTOM_SERVICE_BYTES,
    handle: (request) =>
      policy.change(authorOf(request), async (tx) => {
        const result = await store.insertCustom(tx, request.body);
        return { result, summary: serviceChange(result.service_id, 'created') };
      }),
  });
}

function updateCustomService(policy: PolicyChanges): Route {
  return route({
    method: 'PATCH',
    path: '/custom-services/{service_id}',
    access: 'admin',
    tag: 'Services',
    summary: 'Change a custom service; absent fields keep their value',
    params: ServiceParams,
    body: CustomServiceUpdateBody,
    answer: CustomService,
    entity: customService,
    errors: { 409: 'another service has this name' },
    bodyLimitBytes: CUSTOM_SERVICE_BYTES,
    handle: async (request) => {
      return policy.change(authorOf(request), async (tx) => {
        const result = await store.updateCustom(tx, request.params.service_id, request.body);
        return { result, summary: serviceChange(result.service_id, 'changed') };
      });
    },
  });
}

function deleteCustomService(policy: PolicyChanges): Route {
  return route({
    method: 'DELETE',
    path: '/custom-services/{service_id}',
    access: 'admin',
    tag: 'Services',
    summary: 'Delete a custom service; a service that a group blocks can only be deleted with force',
    params: ServiceParams,
    query: CustomServiceDeleteQuery,
    entity: customService,
    errors: { 409: 'a group blocks the service; use force' },
    handle: async (request) => {
      const { service_id: serviceId } = request.params;
      await policy.change(authorOf(request), async (tx) => {
        await store.deleteCustom(tx, serviceId, request.query.force);
        return { result: undefined, summary: serviceChange(serviceId, 'deleted') };
      });
    },
  });
}

function serviceChange(name: string, verb: 'created' | 'changed' | 'deleted'): CodedChange {
  return { subject: codedSubject('custom_service', { name }), action: codedAction(verb) };
}

async function existing(db: Queryable, { service_id: id }: ServiceParams): Promise<CustomService> {
  const service = await store.findCustom(db, id);
  if (service === undefined) throw notFound(`custom service ${id}`);
  return service;
}
