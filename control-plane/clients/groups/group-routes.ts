/** HTTP routes of `{api}/groups`. A change of a group is stored and active when the response is sent. */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import { IdParams } from '../../../shared/api/fields.ts';
import { ClientPage, GroupClientQuery } from '../../../shared/api/policy/clients-api.ts';
import {
  Group,
  GroupCreateBody,
  GroupDeleteQuery,
  GroupList,
  GroupUpdateBody,
} from '../../../shared/api/policy/groups-api.ts';
import { entity } from '../../api/entity.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { ClientDirectory } from '../devices/client-directory.ts';
import type { ChangedClients } from '../devices/client-record.ts';
import { changedClients, releaseClients } from '../devices/client-store.ts';
import { pageOfClients } from '../devices/client-view.ts';
import type { Database, Queryable } from '../../storage/db/database.ts';
import type { Changed, PolicyChanges } from '../../policy/change/change.ts';
import * as store from './group-store.ts';

/** Number of clients in each group, by id. */
type MemberCounts = Pick<ClientDirectory, 'countByGroup'>;

const group = entity({
  path: '/groups/{id}',
  params: IdParams,
  answer: Group,
  body: GroupUpdateBody,
  read: (db, { id }) => store.readGroup(db, id),
});

/** The routes of groups and their clients. */
export function groupRoutes(context: {
  database: Database;
  policy: PolicyChanges;
  clients: ClientDirectory;
}): Route[] {
  return [
    listGroups(context.database, context.clients),
    createGroup(context.policy, context.clients),
    readGroup(context.database, context.clients),
    updateGroup(context.policy, context.clients),
    deleteGroup(context.policy, context.clients),
    listGroupClients(context.database, context.clients),
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
    entity: group,
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
    entity: group,
    errors: { 409: 'another group has this name' },
    handle: async (request) => {
      const group = await policy.change(authorOf(request), async (tx) => {
        const result = await store.insertGroup(tx, request.body);
        const subject = codedSubject('group', { name: result.name });
        return { result, summary: { subject, action: codedAction('created') } };
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
    entity: group,
    errors: { 409: 'another group has this name, or Default would be disabled' },
    handle: async (request) => {
      const group = await policy.change(authorOf(request), async (tx) => {
        const result = await store.updateGroup(tx, request.params.id, request.body);
        const subject = codedSubject('group', { name: result.name });
        return { result, summary: { subject, action: codedAction('changed') } };
      });
      return counted(clients, group);
    },
  });
}

function deleteGroup(policy: PolicyChanges, clients: Pick<ClientDirectory, 'takeOver'>): Route {
  return route({
    method: 'DELETE',
    path: '/groups/{id}',
    access: 'admin',
    tag: 'Groups',
    summary:
      'Delete a group that no object refers to, or with `cascade` also the objects that refer to it; ' +
      'Default cannot be deleted',
    params: IdParams,
    query: GroupDeleteQuery,
    entity: group,
    errors: {
      409: 'an object refers to the group, the group is Default, or with `cascade` a list would then apply to every group',
    },
    handle: async (request) => {
      const { id } = request.params;
      const { cascade } = request.query;
      const work = async (tx: Queryable): Promise<Changed<ChangedClients>> => {
        const { name } = await store.readGroup(tx, id);
        if (cascade) await releaseClients(tx, id);
        await store.deleteGroup(tx, id, cascade);
        const summary = { subject: codedSubject('group', { name }), action: codedAction('deleted') };
        return { result: await changedClients(tx), summary };
      };
      await policy.change(authorOf(request), work, (released, apply) => {
        clients.takeOver(released);
        return apply();
      });
    },
  });
}

function listGroupClients(database: Database, clients: ClientDirectory): Route {
  return route({
    method: 'GET',
    path: '/groups/{id}/clients',
    access: 'viewer',
    tag: 'Groups',
    summary: 'Clients of the group, whether assigned directly or by their subnet',
    params: IdParams,
    query: GroupClientQuery,
    answer: ClientPage,
    handle: async ({ params, query }) => {
      await store.readGroup(database, params.id);
      return pageOfClients(clients, { ...query, group_id: params.id });
    },
  });
}

function counted(clients: MemberCounts, group: store.StoredGroup): Group {
  return { ...group, client_count: clients.countByGroup().get(group.id) ?? 0 };
}
