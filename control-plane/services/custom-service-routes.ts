/** HTTP of `{api}/custom-services`: services that people define. Blocking them is `service-routes.ts`. */
import type {
  CustomService,
  CustomServiceCreate,
  CustomServiceDeleteQuery,
  CustomServiceUpdate,
  ServiceParams,
} from '../../shared/api/policy/services-api.ts';
import { notFound } from '../api/api-error.ts';
import type { ApiContext } from '../api/api-context.ts';
import { authorOf } from '../api/route.ts';
import type { RouteRequest } from '../api/route.ts';
import * as store from './service-store.ts';

type ById = RouteRequest<ServiceParams>;

/** GET custom-services */
export function listCustomServices({ database }: ApiContext): Promise<CustomService[]> {
  return store.listCustom(database);
}

/** GET custom-services/{service_id} */
export async function readCustomService({ database }: ApiContext, { params }: ById): Promise<CustomService> {
  const service = await store.findCustom(database, params.service_id);
  if (service === undefined) throw notFound(`custom service ${params.service_id}`);
  return service;
}

/** POST custom-services and services/custom */
export function createCustomService(
  context: ApiContext,
  request: RouteRequest<unknown, unknown, CustomServiceCreate>,
): Promise<CustomService> {
  return context.policy.change(authorOf(request), async (tx) => {
    const result = await store.insertCustom(tx, request.body);
    return { result, summary: `custom service ${result.service_id}: created` };
  });
}

/** PATCH custom-services/{service_id} */
export async function updateCustomService(
  context: ApiContext,
  request: RouteRequest<ServiceParams, unknown, CustomServiceUpdate>,
): Promise<CustomService> {
  return context.policy.change(authorOf(request), async (tx) => {
    const result = await store.updateCustom(tx, request.params.service_id, request.body);
    return { result, summary: `custom service ${result.service_id}: changed` };
  });
}

/** DELETE custom-services/{service_id} */
export async function deleteCustomService(
  context: ApiContext,
  request: RouteRequest<ServiceParams, CustomServiceDeleteQuery>,
): Promise<void> {
  const { service_id: serviceId } = request.params;
  await context.policy.change(authorOf(request), async (tx) => {
    await store.deleteCustom(tx, serviceId, request.query.force);
    return { result: undefined, summary: `custom service ${serviceId}: deleted` };
  });
}
