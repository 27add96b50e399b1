/** HTTP routes of `{api}/clients`. A change is stored and active when the response is sent. */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import type { CodedAction, CodedSubject } from '../../../shared/policy/changes/change-codes.ts';
import { ClientBulkAnswer, ClientBulkBody } from '../../../shared/api/policy/bulk-api.ts';
import { IdParams, periodMs } from '../../../shared/api/fields.ts';
import {
  Client,
  ClientCreateBody,
  ClientGroupBody,
  ClientPage,
  ClientQuery,
  ClientStatsList,
  ClientStatsQuery,
  ClientUpdateBody,
} from '../../../shared/api/policy/clients-api.ts';
import type { ClientStats, ClientUpdate } from '../../../shared/api/policy/clients-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { clientsOf } from '../../api/route-access.ts';
import { notFound } from '../../api/api-error.ts';
import type { Author } from '../../api/caller.ts';
import { BULK_LIMIT_BYTES } from '../../api/row-faults.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import { spanOf } from '../../query-log/reading/period-start.ts';
import type { LogQuestions } from '../../query-log/log-search/log-questions.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import type { Changed } from '../../policy/change/change.ts';
import type { ClientDirectory } from './client-directory.ts';
import { latest } from './client-record.ts';
import type { StoredClient } from './client-record.ts';
import { auditOutside } from './client-change.ts';
import type { ClientChange } from './client-change.ts';
import { changedGroup, clientEntity } from './client-entity.ts';
import { changeClients } from './client-batch.ts';
import * as store from './client-store.ts';
import { clientById, labelOf, momentText, pageOfClients } from './client-view.ts';

export function clientRoutes(context: {
  stats: Pick<LogQuestions, 'addressCounts'>;
  policy: PolicyChanges;
  clients: ClientDirectory;
  clock: Clock;
}): Route[] {
  return [
    listClients(context.clients),
    createClient(context.policy, context.clients),
    changeManyClients(context.policy, context.clients),
    readClientStats(context.stats, context.clients, context.clock),
    readClient(context.clients),
    updateClient(context.policy, context.clients),
    deleteClient(context.policy, context.clients),
    moveClient(context.policy, context.clients),
  ];
}

function listClients(clients: ClientDirectory): Route {
  return route({
    method: 'GET',
    path: '/clients',
    access: 'member',
    tag: 'Clients',
    summary:
      'Clients that have sent queries or that users created, most recently seen first; the role family ' +
      'only gets linked clients',
    query: ClientQuery,
    answer: ClientPage,
    handle: ({ query, caller }) => pageOfClients(clients, query, clientsOf(caller)),
  });
}

function readClient(clients: ClientDirectory): Route {
  return route({
    method: 'GET',
    path: '/clients/{id}',
    access: 'member',
    tag: 'Clients',
    summary: 'One client; the role family can only read a linked client',
    params: IdParams,
    answer: Client,
    entity: clientEntity,
    handle: ({ params, caller }) => {
      if (clientsOf(caller)?.has(params.id) === false) throw notFound(`client ${params.id}`);
      return clientById(clients, params.id);
    },
  });
}

function readClientStats(
  stats: Pick<LogQuestions, 'addressCounts'>,
  clients: ClientDirectory,
  clock: Clock,
): Route {
  return route({
    method: 'GET',
    path: '/clients/stats',
    access: 'viewer',
    tag: 'Clients',
    summary: 'Number of queries of each client in a period, busiest client first',
    query: ClientStatsQuery,
    answer: ClientStatsList,
    handle: async ({ query, gone }) => {
      const counts = await stats.addressCounts(spanOf(clock.nowMs(), periodMs(query.period)!), gone);
      const found = new Map<number, ClientStats>();
      for (const { address, clientId, total, blocked } of counts) {
        const part = clientId === null ? clients.at(address) : clients.get(clientId);
        if (part === undefined) continue;
        const record = clients.partsOf(part)[0]!;
        if (record.id === null) continue;
        const before = found.get(record.id);
        const queriesTotal = (before?.queries_total ?? 0) + total;
        const queriesBlocked = (before?.queries_blocked ?? 0) + blocked;
        found.set(record.id, {
          id: record.id,
          ip_address: record.ip,
          hostname: record.hostname,
          name: record.name,
          group_id: clients.groupOf(record).groupId,
          queries_total: queriesTotal,
          queries_blocked: queriesBlocked,
          block_rate: Math.round((queriesBlocked / queriesTotal) * 10_000) / 100,
          last_seen: momentText(
            clients
              .partsOf(record)
              .map(({ lastSeenMs }) => lastSeenMs)
              .reduce(latest),
          ),
        });
      }
      const busiest = [...found.values()].sort((a, b) => b.queries_total - a.queries_total || a.id - b.id);
      return busiest.slice(0, query.limit);
    },
  });
}

function createClient(policy: PolicyChanges, clients: ClientDirectory): Route {
  return route({
    method: 'POST',
    path: '/clients',
    access: 'admin',
    tag: 'Clients',
    summary:
      'Create a client, identified by its MAC address; without one, by its IP address; without either, by ' +
      'its key. A client that is already known only from its queries is updated',
    body: ClientCreateBody,
    status: 201,
    answer: Client,
    entity: clientEntity,
    errors: { 409: 'a client with this MAC, address or key already exists' },
    handle: async (request) => {
      return change(policy, clients, authorOf(request), codedAction('created'), async (tx) => {
        const after = await store.insertClient(tx, request.body);
        return { result: after, before: null, after };
      });
    },
  });
}

function changeManyClients(policy: PolicyChanges, clients: ClientDirectory): Route {
  return route({
    method: 'POST',
    path: '/clients/bulk',
    access: 'admin',
    tag: 'Clients',
    summary: 'Delete and create many clients in one revision: either all of these changes are made or none',
    body: ClientBulkBody,
    bodyLimitBytes: BULK_LIMIT_BYTES,
    answer: ClientBulkAnswer,
    errors: {
      409: 'a client cannot be created, as for POST /clients; `errors` names each such client by its index',
    },
    handle: async (request) => {
      const { create, delete: deleted } = request.body;
      const author = authorOf(request);
      const action = codedAction('created_and_deleted', { created: create.length, deleted: deleted.length });
      const work = async (tx: Queryable): Promise<Changed<readonly StoredClient[]>> => {
        const { created, changes } = await changeClients(tx, request.body);
        for (const one of changes)
          await auditChange(tx, author, codedAction(one.after === null ? 'deleted' : 'created'), one);
        return { result: created, summary: { subject: codedSubject('clients'), action } };
      };
      const created = await policy.change(author, work, (stored, apply) => {
        for (const id of deleted) clients.remove(id);
        for (const client of stored) clients.put(client);
        return apply();
      });
      return { created: created.map(({ id }) => clientById(clients, id)), deleted };
    },
  });
}

function updateClient(policy: PolicyChanges, clients: ClientDirectory): Route {
  return route({
    method: 'PATCH',
    path: '/clients/{id}',
    access: 'admin',
    tag: 'Clients',
    summary: 'Change a client; absent fields keep their value',
    params: IdParams,
    body: ClientUpdateBody,
    answer: Client,
    entity: clientEntity,
    errors: { 409: 'another client has this MAC, address or key, or the client is part of another client' },
    handle: (request) => {
      const { id } = request.params;
      return change(policy, clients, authorOf(request), codedAction('changed'), (tx) =>
        update(tx, id, changedGroup(clients, id, request.body)),
      );
    },
  });
}

function moveClient(policy: PolicyChanges, clients: ClientDirectory): Route {
  return route({
    method: 'PUT',
    path: '/clients/{id}/group',
    access: 'admin',
    tag: 'Clients',
    summary: 'Move a client to a group, or to the group of its subnet if `group_id` is null',
    params: IdParams,
    body: ClientGroupBody,
    answer: Client,
    entity: clientEntity,
    errors: { 409: 'the client is part of another client' },
    handle: (request) => {
      const { group_id: groupId } = request.body;
      const what =
        groupId === null
          ? codedAction('removed_from_group')
          : codedAction('moved_to_group', { group: groupId });
      return change(policy, clients, authorOf(request), what, (tx) =>
        update(tx, request.params.id, { group_id: groupId }),
      );
    },
  });
}

function deleteClient(policy: PolicyChanges, clients: ClientDirectory): Route {
  return route({
    method: 'DELETE',
    path: '/clients/{id}',
    access: 'admin',
    tag: 'Clients',
    summary:
      'Delete a client; if the client sends another query, it is created again, without its former ' +
      'settings',
    params: IdParams,
    entity: clientEntity,
    handle: async (request) => {
      const { id } = request.params;
      const author = authorOf(request);
      const work = async (tx: Queryable): Promise<Changed<null>> => {
        const before = await store.deleteClient(tx, id);
        return described(tx, author, codedAction('deleted'), { result: null, before, after: null });
      };
      await policy.change(author, work, (_result, apply) => {
        clients.remove(id);
        return apply();
      });
    },
  });
}

/** Result of a change, which may have had no effect. */
interface Done<T> extends ClientChange {
  readonly result: T;
}

async function update(tx: Queryable, id: number, fields: ClientUpdate): Promise<Done<StoredClient>> {
  const before = await store.readClient(tx, id);
  const after = await store.updateClient(tx, id, fields);
  return { result: after, before, after };
}

async function described<T>(
  tx: Queryable,
  author: Author,
  action: CodedAction,
  { result, ...change }: Done<T>,
): Promise<Changed<T>> {
  return { result, summary: { subject: await auditChange(tx, author, action, change), action } };
}

/** Records a change that creates no revision in the audit log; returns the target of the change. */
async function auditChange(
  tx: Queryable,
  author: Author,
  action: CodedAction,
  change: ClientChange,
): Promise<CodedSubject> {
  const subject = codedSubject('client', { name: labelOf((change.after ?? change.before)!) });
  await auditOutside(tx, author, { subject, action }, change);
  return subject;
}

/**
 * Changes a client in the database, then in memory (which looks up the client's addresses), then in the active policy.
 */
async function change(
  policy: PolicyChanges,
  clients: ClientDirectory,
  author: Author,
  what: CodedAction,
  work: (tx: Queryable) => Promise<Done<StoredClient>>,
): Promise<Client> {
  const describe = async (tx: Queryable): Promise<Changed<StoredClient>> =>
    described(tx, author, what, await work(tx));
  const stored = await policy.change(author, describe, (client, apply) => {
    clients.put(client);
    return apply();
  });
  return clientById(clients, stored.id);
}
