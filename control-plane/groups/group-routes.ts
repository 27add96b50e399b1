/** HTTP of `{api}/groups`. A change of a group is in the database and in force when the answer is sent. */
import type { IdParams } from '../../shared/api/fields.ts';
import type { Group, GroupCreate, GroupUpdate } from '../../shared/api/groups.ts';
import type { ApiContext } from '../http/api-context.ts';
import type { RouteRequest } from '../http/route.ts';
import * as store from './group-store.ts';

type ById = RouteRequest<IdParams>;

/** GET groups */
export function listGroups(context: ApiContext): Promise<Group[]> {
  return store.listGroups(context.database);
}

/** GET groups/{id} */
export function readGroup(context: ApiContext, { params }: ById): Promise<Group> {
  return store.readGroup(context.database, params.id);
}

/** POST groups */
export async function createGroup(
  context: ApiContext,
  { body }: RouteRequest<unknown, unknown, GroupCreate>,
): Promise<Group> {
  const group = await store.insertGroup(context.database, body);
  await context.policy.apply();
  return group;
}

/** PUT groups/{id} */
export async function updateGroup(
  context: ApiContext,
  { params, body }: RouteRequest<IdParams, unknown, GroupUpdate>,
): Promise<Group> {
  const group = await store.updateGroup(context.database, params.id, body);
  await context.policy.apply();
  return group;
}

/** DELETE groups/{id} */
export async function deleteGroup(context: ApiContext, { params }: ById): Promise<void> {
  await store.deleteGroup(context.database, params.id);
  await context.policy.apply();
}
