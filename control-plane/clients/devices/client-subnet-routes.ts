/** HTTP routes of `{api}/client-subnets`. A change is stored and active when the response is sent. */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import { IdParams } from '../../../shared/api/fields.ts';
import {
  ClientSubnet,
  ClientSubnetCreateBody,
  ClientSubnetList,
} from '../../../shared/api/policy/clients-api.ts';
import { entity } from '../../api/entity.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { Database } from '../../storage/db/database.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import * as store from './client-subnet-store.ts';

const clientSubnet = entity({
  path: '/client-subnets/{id}',
  params: IdParams,
  answer: ClientSubnet,
  body: ClientSubnetCreateBody,
  read: (db, { id }) => store.readSubnet(db, id),
});

/** The routes of networks whose clients are assigned to a group. */
export function clientSubnetRoutes(context: { database: Database; policy: PolicyChanges }): Route[] {
  return [
    listSubnets(context.database),
    readSubnet(context.database),
    createSubnet(context.policy),
    deleteSubnet(context.policy),
  ];
}

function listSubnets(database: Database): Route {
  return route({
    method: 'GET',
    path: '/client-subnets',
    access: 'viewer',
    tag: 'Clients',
    summary: 'Networks whose clients are in a group; the longest prefix applies',
    answer: ClientSubnetList,
    handle: () => store.listSubnets(database),
  });
}

function readSubnet(database: Database): Route {
  return route({
    method: 'GET',
    path: '/client-subnets/{id}',
    access: 'viewer',
    tag: 'Clients',
    summary: 'One network',
    params: IdParams,
    answer: ClientSubnet,
    entity: clientSubnet,
    handle: ({ params }) => store.readSubnet(database, params.id),
  });
}

function createSubnet(policy: PolicyChanges): Route {
  return route({
    method: 'POST',
    path: '/client-subnets',
    access: 'admin',
    tag: 'Clients',
    summary: 'Assign the clients of a network to a group',
    body: ClientSubnetCreateBody,
    status: 201,
    answer: ClientSubnet,
    entity: clientSubnet,
    errors: { 409: 'the network already exists' },
    handle: async (request) => {
      return policy.change(authorOf(request), async (tx) => {
        const result = await store.insertSubnet(tx, request.body);
        const action = codedAction('assigned_to_group', { group: result.group_name });
        return { result, summary: { subject: codedSubject('subnet', { name: result.subnet_cidr }), action } };
      });
    },
  });
}

function deleteSubnet(policy: PolicyChanges): Route {
  return route({
    method: 'DELETE',
    path: '/client-subnets/{id}',
    access: 'admin',
    tag: 'Clients',
    summary: 'Delete a client subnet',
    params: IdParams,
    entity: clientSubnet,
    handle: async (request) => {
      await policy.change(authorOf(request), async (tx) => {
        const result = await store.deleteSubnet(tx, request.params.id);
        const subject = codedSubject('subnet', { name: result.subnet_cidr });
        return { result, summary: { subject, action: codedAction('deleted') } };
      });
    },
  });
}
