/** HTTP of `{api}/clients`. A change is in the database and in force when the answer is sent. */
import type {
  Client,
  ClientCreate,
  ClientGroup,
  ClientPage,
  ClientQuery,
  ClientStats,
  ClientStatsQuery,
  ClientUpdate,
  GroupClientQuery,
} from '../../shared/api/policy/clients-api.ts';
import { type IdParams, periodMs } from '../../shared/api/fields.ts';
import { notFound } from '../api/api-error.ts';
import type { Queryable } from '../db/database.ts';
import type { ApiContext } from '../api/api-context.ts';
import { authorOf } from '../api/route.ts';
import type { RouteRequest } from '../api/route.ts';
import { readGroup } from '../groups/group-store.ts';
import type { Changed } from '../policy/change.ts';
import type { StoredClient } from './client-record.ts';
import { summarizeClients } from './client-stats-store.ts';
import * as store from './client-store.ts';
import { findClients, momentText, shownClient } from './client-view.ts';

/** GET clients */
export function listClients(context: ApiContext, { query }: RouteRequest<unknown, ClientQuery>): ClientPage {
  return pageOfClients(context, query);
}

/** GET groups/{id}/clients */
export async function listGroupClients(
  context: ApiContext,
  { params, query }: RouteRequest<IdParams, GroupClientQuery>,
): Promise<ClientPage> {
  await readGroup(context.database, params.id);
  return pageOfClients(context, { ...query, group_id: params.id });
}

/** GET clients/{id} */
export function readClient(context: ApiContext, { params }: RouteRequest<IdParams>): Client {
  return shown(context, params.id);
}

/** GET clients/stats */
export async function readClientStats(
  { clients, clock, database }: ApiContext,
  { query }: RouteRequest<unknown, ClientStatsQuery>,
): Promise<ClientStats[]> {
  const toMs = clock.nowMs();
  const counts = await database
    .background('questions')
    .read((tx) => summarizeClients(tx, toMs - periodMs(query.period)!, toMs));
  const found = new Map<number, ClientStats>();
  for (const { address, total, blocked } of counts) {
    const record = clients.at(address);
    if (record === undefined || record.id === null) continue;
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
      last_seen: momentText(record.lastSeenMs),
    });
  }
  const busiest = [...found.values()].sort((a, b) => b.queries_total - a.queries_total || a.id - b.id);
  return busiest.slice(0, query.limit);
}

/** POST clients */
export async function createClient(
  context: ApiContext,
  request: RouteRequest<unknown, unknown, ClientCreate>,
): Promise<Client> {
  return change(context, authorOf(request), 'created', async (tx) => {
    const client = await store.insertClient(tx, request.body);
    return { client, isChanged: true };
  });
}

/** PATCH clients/{id} */
export async function updateClient(
  context: ApiContext,
  request: RouteRequest<IdParams, unknown, ClientUpdate>,
): Promise<Client> {
  const { id } = request.params;
  return change(context, authorOf(request), 'changed', (tx) => update(tx, id, request.body));
}

/** PUT clients/{id}/group */
export async function moveClient(
  context: ApiContext,
  request: RouteRequest<IdParams, unknown, ClientGroup>,
): Promise<Client> {
  const { group_id: groupId } = request.body;
  const what = groupId === null ? 'taken out of its group' : `moved to group ${groupId}`;
  return change(context, authorOf(request), what, (tx) =>
    update(tx, request.params.id, { group_id: groupId }),
  );
}

/** DELETE clients/{id} */
export async function deleteClient(context: ApiContext, request: RouteRequest<IdParams>): Promise<void> {
  const { id } = request.params;
  const work = async (tx: Queryable): Promise<Changed<StoredClient>> => {
    const result = await store.deleteClient(tx, id);
    return { result, summary: `client ${labelOf(result)}: deleted`, isOutside: true };
  };
  await context.policy.change(authorOf(request), work, (_client, apply) => {
    context.clients.remove(id);
    return apply();
  });
}

/** A client after a change, which may have left it as it was. */
interface ChangedClient {
  readonly client: StoredClient;
  readonly isChanged: boolean;
}

async function update(tx: Queryable, id: number, fields: ClientUpdate): Promise<ChangedClient> {
  const before = await store.readClient(tx, id);
  const client = await store.updateClient(tx, id, fields);
  const isChanged = (['ip', 'mac', 'name', 'groupId'] as const).some(
    (field) => before[field] !== client[field],
  );
  return { client, isChanged };
}

/** Changes a client in the database, then in memory, where its addresses are looked up, then in force. */
async function change(
  context: ApiContext,
  author: string,
  what: string,
  work: (tx: Queryable) => Promise<ChangedClient>,
): Promise<Client> {
  const describe = async (tx: Queryable): Promise<Changed<StoredClient>> => {
    const { client: result, isChanged } = await work(tx);
    const summary = isChanged ? `client ${labelOf(result)}: ${what}` : null;
    return { result, summary, isOutside: true };
  };
  const stored = await context.policy.change(author, describe, (client, apply) => {
    context.clients.put(client);
    return apply();
  });
  return shown(context, stored.id);
}

function pageOfClients({ clients }: ApiContext, { limit, offset, ...filter }: ClientQuery): ClientPage {
  const found = findClients(clients, filter);
  const data = found
    .slice(offset, offset + limit)
    .map(({ record, grouping }) => shownClient(record, grouping));
  return { data, total: found.length, limit, offset };
}

function shown({ clients }: ApiContext, id: number): Client {
  const record = clients.get(id);
  if (record === undefined) throw notFound(`client ${id}`);
  return shownClient(record, clients.groupOf(record));
}

function labelOf({ name, mac, ip }: StoredClient): string {
  return name ?? mac ?? ip ?? '';
}
