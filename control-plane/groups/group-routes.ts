/** HTTP of `{api}/groups`. A change of a group is in the database and in force when the answer is sent. */
import { IdParams } from '../../shared/api/fields.ts';
import { Group, GroupCreateBody, GroupList, GroupUpdateBody } from '../../shared/api/policy/groups-api.ts';
import { authorOf, route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import type { Database } from '../db/database.ts';
import type { PolicyChanges } from '../policy/change.ts';
import * as store from './group-store.ts';

/** How many clients belong to each group, by id. */
interface MemberCounts {
  countByGroup(): ReadonlyMap<number, number>;
}

/** Rows of groups. */
export function groupRoutes(context: {
  database: Database;
  policy: PolicyChanges;
  clients: MemberCounts;
}): Route[] {
  return [
    listGroups(context.database, context.clients),
    createGroup(context.policy, context.clients),
    readGroup(context.database, context.clients),
    updateGroup(context.policy, context.clients),
    deleteGroup(context.policy),
  ];
}

function listGroups(database: Database, clients: MemberCounts): Route {
  return route({
    method: 'GET',
    path: '/groups',
    access: 'viewer',
    tag: 'Groups',
    summary: 'All groups',
    answer: GroupList,
    handle: async () => {
      const groups = await store.listGroups(database);
      const counts = clients.countByGroup();
      return groups.map((group) => ({ ...group, client_count: counts.get(group.id) ?? 0 }));
    },
  });
}

function readGroup(database: Database, clients: MemberCounts): Route {
  return route({
    method: 'GET',
    path: '/groups/{id}',
    access: 'viewer',
    tag: 'Groups',
    summary: 'One group',
    params: IdParams,
    answer: Group,
    handle: async ({ params }) => counted(clients, await store.readGroup(database, params.id)),
  });
}

function createGroup(policy: PolicyChanges, clients: MemberCounts): Route {
  return route({
    method: 'POST',
    path: '/groups',
    access: 'admin',
    tag: 'Groups',
    summary: 'Create a group',
    body: GroupCreateBody,
    status: 201,
    answer: Group,
    errors: { 409: 'the name is taken' },
    handle: async (request) => {
      const group = await policy.change(authorOf(request), async (tx) => {
        const result = await store.insertGroup(tx, request.body);
        return { result, summary: `group ${result.name}: created` };
      });
      return counted(clients, group);
    },
  });
}

function updateGroup(policy: PolicyChanges, clients: MemberCounts): Route {
  return route({
    method: 'PUT',
    path: '/groups/{id}',
    access: 'admin',
    tag: 'Groups',
    summary: 'Change a group; absent fields keep their value',
    params: IdParams,
    body: GroupUpdateBody,
    answer: Group,
    errors: { 409: 'the name is taken, or Default would be disabled' },
    handle: async (request) => {
      const group = await policy.change(authorOf(request), async (tx) => {
        const result = await store.updateGroup(tx, request.params.id, request.body);
        return { result, summary: `group ${result.name}: changed` };
      });
      return counted(clients, group);
    },
  });
}

function deleteGroup(policy: PolicyChanges): Route {
  return route({
    method: 'DELETE',
    path: '/groups/{id}',
    access: 'admin',
    tag: 'Groups',
    summary: 'Delete a group that nothing refers to; Default stays',
    params: IdParams,
    errors: { 409: 'something refers to the group, or it is Default' },
    handle: async (request) => {
      const { id } = request.params;
      await policy.change(authorOf(request), async (tx) => {
        const { name } = await store.readGroup(tx, id);
        await store.deleteGroup(tx, id);
        return { result: undefined, summary: `group ${name}: deleted` };
      });
    },
  });
}

function counted(clients: MemberCounts, group: store.StoredGroup): Group {
  return { ...group, client_count: clients.countByGroup().get(group.id) ?? 0 };
}
