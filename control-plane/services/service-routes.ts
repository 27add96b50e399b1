/** HTTP of `{api}/services`: the catalog, and which of its services are blocked for which groups. */
import type {
  BlockedService,
  BlockedServiceQuery,
  CatalogService,
  CategoryList,
  CustomService,
  ServiceBlock,
  ServiceGroupParams,
  ServiceParams,
} from '../../shared/api/policy/services-api.ts';
import { CATEGORY_NAMES } from '../../shared/api/policy/services-api.ts';
import { notFound } from '../api/api-error.ts';
import type { ApiContext } from '../api/api-context.ts';
import { authorOf } from '../api/route.ts';
import type { RouteRequest } from '../api/route.ts';
import * as store from './service-store.ts';

/** GET services/categories */
export function listCategories(): CategoryList {
  return Object.entries(CATEGORY_NAMES).map(([id, name]) => ({ id, name }) as CategoryList[number]);
}

/** GET services/catalog */
export async function listCatalog({ catalog, database }: ApiContext): Promise<CatalogService[]> {
  const custom = await store.listCustom(database);
  return [...catalog.all(), ...custom.map(asCatalogService)];
}

/** GET services/catalog/{service_id} */
export async function readCatalogService(
  { catalog, database }: ApiContext,
  { params }: RouteRequest<ServiceParams>,
): Promise<CatalogService> {
  const { service_id: id } = params;
  const builtIn = catalog.get(id);
  if (builtIn !== undefined) return builtIn;
  const custom = await store.findCustom(database, id);
  if (custom === undefined) throw notFound(`service ${id}`);
  return asCatalogService(custom);
}

/** GET services */
export function listBlockedServices(
  { database }: ApiContext,
  { query }: RouteRequest<unknown, BlockedServiceQuery>,
): Promise<BlockedService[]> {
  return store.listBlocked(database, query.group_id);
}

/** POST services */
export async function blockService(
  context: ApiContext,
  request: RouteRequest<unknown, unknown, ServiceBlock>,
): Promise<BlockedService> {
  const { service_id: serviceId, group_id: groupId } = request.body;
  return context.policy.change(authorOf(request), async (tx) => {
    if (context.catalog.get(serviceId) === undefined && (await store.findCustom(tx, serviceId)) === undefined)
      throw notFound(`service ${serviceId}`);
    const result = await store.insertBlocked(tx, serviceId, groupId);
    return { result, summary: `service ${serviceId}: blocked for group ${groupId}` };
  });
}

/** DELETE services/{service_id}/groups/{group_id} */
export async function unblockService(
  context: ApiContext,
  request: RouteRequest<ServiceGroupParams>,
): Promise<void> {
  const { service_id: serviceId, group_id: groupId } = request.params;
  await context.policy.change(authorOf(request), async (tx) => {
    await store.deleteBlocked(tx, serviceId, groupId);
    return { result: undefined, summary: `service ${serviceId}: no longer blocked for group ${groupId}` };
  });
}

function asCatalogService(custom: CustomService): CatalogService {
  const {
    service_id: id,
    name,
    category,
    category_name: categoryName,
    domains,
    updated_at: updatedAt,
  } = custom;
  return {
    id,
    name,
    category,
    category_name: categoryName,
    icon: null,
    domains,
    exact_domains: [],
    is_custom: true,
    updated_at: updatedAt,
    withdrawn_at: null,
  };
}
