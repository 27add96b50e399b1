/** HTTP routes of `{api}/services`: the catalog, and which of its services are blocked for which groups. */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import type { CodedChange } from '../../../shared/policy/changes/change-codes.ts';
import {
  BlockedService,
  BlockedServiceList,
  BlockedServiceQuery,
  CatalogService,
  CatalogServiceList,
  CategoryList,
  ServiceBlockBody,
  ServiceGroupParams,
  ServiceParams,
  ServiceTimesBody,
  CATEGORY_NAMES,
} from '../../../shared/api/policy/services-api.ts';
import type { CustomService } from '../../../shared/api/policy/services-api.ts';
import { notFound, unknownReference } from '../../api/api-error.ts';
import { entity } from '../../api/entity.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { Database } from '../../storage/db/database.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import type { ServiceCatalog } from './service-catalog.ts';
import * as store from './service-store.ts';

const blockedService = entity({
  path: '/services/{service_id}/groups/{group_id}',
  params: ServiceGroupParams,
  answer: BlockedService,
  body: ServiceTimesBody,
  read: (db, params) => store.readBlocked(db, params),
});

/** The routes of the catalog and the blocked services. */
export function serviceRoutes(context: {
  database: Database;
  policy: PolicyChanges;
  catalog: Pick<ServiceCatalog, 'all' | 'get'>;
}): Route[] {
  return [
    listCatalog(context.database, context.catalog),
    readCatalogService(context.database, context.catalog),
    listCategories(),
    listBlockedServices(context.database),
    blockService(context.policy, context.catalog),
    readBlockedService(context.database),
    timeService(context.policy),
    unblockService(context.policy),
  ];
}

function listCategories(): Route {
  return route({
    method: 'GET',
    path: '/services/categories',
    access: 'viewer',
    tag: 'Services',
    summary: 'The categories of the catalog',
    answer: CategoryList,
    handle: () => Object.entries(CATEGORY_NAMES).map(([id, name]) => ({ id, name }) as CategoryList[number]),
  });
}

function listCatalog(database: Database, catalog: Pick<ServiceCatalog, 'all' | 'get'>): Route {
  return route({
    method: 'GET',
    path: '/services/catalog',
    access: 'viewer',
    tag: 'Services',
    summary: 'All services, built-in and custom',
    answer: CatalogServiceList,
    handle: async () => {
      const custom = await store.listCustom(database);
      return [...catalog.all(), ...custom.map(asCatalogService)];
    },
  });
}

function readCatalogService(database: Database, catalog: Pick<ServiceCatalog, 'all' | 'get'>): Route {
  return route({
    method: 'GET',
    path: '/services/catalog/{service_id}',
    access: 'viewer',
    tag: 'Services',
    summary: 'One service with its domains',
    params: ServiceParams,
    answer: CatalogService,
    handle: async ({ params }) => {
      const { service_id: id } = params;
      const builtIn = catalog.get(id);
      if (builtIn !== undefined) return builtIn;
      const custom = await store.findCustom(database, id);
      if (custom === undefined) throw notFound(`service ${id}`);
      return asCatalogService(custom);
    },
  });
}

function listBlockedServices(database: Database): Route {
  return route({
    method: 'GET',
    path: '/services',
    access: 'viewer',
    tag: 'Services',
    summary: 'Blocked services of all groups, or of one group',
    query: BlockedServiceQuery,
    answer: BlockedServiceList,
    handle: ({ query }) => store.listBlocked(database, query.group_id),
  });
}

function blockService(policy: PolicyChanges, catalog: Pick<ServiceCatalog, 'all' | 'get'>): Route {
  return route({
    method: 'POST',
    path: '/services',
    access: 'admin',
    tag: 'Services',
    summary: 'Block a service for a group, at all times or during the slots of a schedule profile',
    body: ServiceBlockBody,
    status: 201,
    answer: BlockedService,
    entity: blockedService,
    errors: { 409: 'the service is already blocked' },
    handle: async (request) => {
      const { service_id: serviceId } = request.body;
      return policy.change(authorOf(request), async (tx) => {
        if (catalog.get(serviceId) === undefined && (await store.findCustom(tx, serviceId)) === undefined)
          throw unknownReference('service_id', 'service');
        const result = await store.insertBlocked(tx, request.body);
        return { result, summary: serviceChange(request.body, 'blocked_for_group') };
      });
    },
  });
}

function readBlockedService(database: Database): Route {
  return route({
    method: 'GET',
    path: '/services/{service_id}/groups/{group_id}',
    access: 'viewer',
    tag: 'Services',
    summary: 'Whether and when one service is blocked for a group',
    params: ServiceGroupParams,
    answer: BlockedService,
    entity: blockedService,
    handle: ({ params }) => store.readBlocked(database, params),
  });
}

function timeService(policy: PolicyChanges): Route {
  return route({
    method: 'PUT',
    path: '/services/{service_id}/groups/{group_id}',
    access: 'admin',
    tag: 'Services',
    summary: 'Change the times at which a service is blocked for a group',
    params: ServiceGroupParams,
    body: ServiceTimesBody,
    answer: BlockedService,
    entity: blockedService,
    errors: { 404: 'the service is not blocked for the group' },
    handle: async (request) => {
      return policy.change(authorOf(request), async (tx) => {
        const result = await store.updateBlocked(tx, { ...request.params, ...request.body });
        return { result, summary: serviceChange(request.params, 'blocked_at_other_times') };
      });
    },
  });
}

function unblockService(policy: PolicyChanges): Route {
  return route({
    method: 'DELETE',
    path: '/services/{service_id}/groups/{group_id}',
    access: 'admin',
    tag: 'Services',
    summary: 'Unblock a service for a group',
    params: ServiceGroupParams,
    entity: blockedService,
    handle: async (request) => {
      const { service_id: serviceId, group_id: groupId } = request.params;
      await policy.change(authorOf(request), async (tx) => {
        await store.deleteBlocked(tx, serviceId, groupId);
        return { result: undefined, summary: serviceChange(request.params, 'unblocked_for_group') };
      });
    },
  });
}

function serviceChange(
  { service_id: name, group_id: group }: { readonly service_id: string; readonly group_id: number },
  action: 'blocked_for_group' | 'blocked_at_other_times' | 'unblocked_for_group',
): CodedChange {
  return { subject: codedSubject('service', { name }), action: codedAction(action, { group }) };
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
    tags: [],
    icon: null,
    domains,
    exact_domains: [],
    is_custom: true,
    updated_at: updatedAt,
    withdrawn_at: null,
  };
}
