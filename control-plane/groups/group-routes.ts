/** HTTP of `{api}/groups`. A change of a group is in the database and in force when the answer is sent. */
import type { IdParams } from '../../shared/api/fields.ts';
import type { Group, GroupCreate, GroupUpdate } from '../../shared/api/policy/groups-api.ts';
import type { ApiContext } from '../api/api-context.ts';
import { authorOf } from '../api/route.ts';
import type { RouteRequest } from '../api/route.ts';
import * as store from './group-store.ts';

type ById = RouteRequest<IdParams>;

/** GET groups */
export async function listGroups({ database, clients }: ApiContext): Promise<Group[]> {
  const groups = await store.listGroups(database);
  const counts = clients.countByGroup();
  return groups.map((group) => ({ ...group, client_count: counts.get(group.id) ?? 0 }));
}

/** GET groups/{id} */
export async function readGroup(context: ApiContext, { params }: ById): Promise<Group> {
  return counted(context, await store.readGroup(context.database, params.id));
}

/** POST groups */
export async function createGroup(
  context: ApiContext,
  request: RouteRequest<unknown, unknown, GroupCreate>,
): Promise<Group> {
  const group = await context.policy.change(authorOf(request), async (tx) => {
    const result = await store.insertGroup(tx, request.body);
    return { result, summary: `group ${result.name}: created` };
  });
  return counted(context, group);
}

/** PUT groups/{id} */
export async function updateGroup(
  context: ApiContext,
  request: RouteRequest<IdParams, unknown, GroupUpdate>,
): Promise<Group> {
  const group = await context.policy.change(authorOf(request), async (tx) => {
    const result = await store.updateGroup(tx, request.params.id, request.body);
    return { result, summary: `group ${result.name}: changed` };
  });
  return counted(context, group);
}

/** DELETE groups/{id} */
export async function deleteGroup(context: ApiContext, request: ById): Promise<void> {
  const { id } = request.params;
  await context.policy.change(authorOf(request), async (tx) => {
    const { name } = await store.readGroup(tx, id);
    await store.deleteGroup(tx, id);
    return { result: undefined, summary: `group ${name}: deleted` };
  });
}

function counted({ clients }: ApiContext, group: store.StoredGroup): Group {
  return { ...group, client_count: clients.countByGroup().get(group.id) ?? 0 };
}
