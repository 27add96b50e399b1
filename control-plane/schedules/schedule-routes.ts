/** HTTP of `{api}/schedule-profiles` and `{api}/groups/{id}/schedule`; a change is in force when it is answered. */
import type { IdParams } from '../../shared/api/fields.ts';
import type {
  FullScheduleProfile,
  GroupSchedule,
  GroupScheduleChange,
  ScheduleProfile,
  ScheduleProfileCreate,
  ScheduleProfileUpdate,
  ScheduleSlot,
  ScheduleSlotCreate,
  SlotParams,
} from '../../shared/api/policy/schedules-api.ts';
import type { Queryable } from '../db/database.ts';
import type { ApiContext } from '../api/api-context.ts';
import { authorOf } from '../api/route.ts';
import type { RouteRequest } from '../api/route.ts';
import * as store from './schedule-store.ts';

type ById = RouteRequest<IdParams>;

/** GET schedule-profiles */
export function listProfiles({ database }: ApiContext): Promise<ScheduleProfile[]> {
  return store.listProfiles(database);
}

/** GET schedule-profiles/{id} */
export function readProfile({ database }: ApiContext, { params }: ById): Promise<FullScheduleProfile> {
  return store.readProfile(database, params.id);
}

/** POST schedule-profiles */
export function createProfile(
  context: ApiContext,
  request: RouteRequest<unknown, unknown, ScheduleProfileCreate>,
): Promise<ScheduleProfile> {
  const describe = ({ name }: ScheduleProfile): string => `schedule profile ${name}: created`;
  return change(context, request, describe, (tx) => store.insertProfile(tx, request.body));
}

/** PUT schedule-profiles/{id} */
export function updateProfile(
  context: ApiContext,
  request: RouteRequest<IdParams, unknown, ScheduleProfileUpdate>,
): Promise<ScheduleProfile> {
  const describe = ({ name }: ScheduleProfile): string => `schedule profile ${name}: changed`;
  return change(context, request, describe, (tx) => store.updateProfile(tx, request.params.id, request.body));
}

/** DELETE schedule-profiles/{id} */
export async function deleteProfile(context: ApiContext, request: ById): Promise<void> {
  const describe = (name: string): string => `schedule profile ${name}: deleted`;
  await change(context, request, describe, (tx) => store.deleteProfile(tx, request.params.id));
}

/** POST schedule-profiles/{id}/slots */
export function createSlot(
  context: ApiContext,
  request: RouteRequest<IdParams, unknown, ScheduleSlotCreate>,
): Promise<ScheduleSlot> {
  const { id } = request.params;
  const describe = (slot: ScheduleSlot): string =>
    `schedule profile ${id}: slot ${slot.start_time} to ${slot.end_time} (${slot.action}) created`;
  return change(context, request, describe, (tx) => store.insertSlot(tx, id, request.body));
}

/** DELETE schedule-profiles/{id}/slots/{slot_id} */
export async function deleteSlot(context: ApiContext, request: RouteRequest<SlotParams>): Promise<void> {
  const { id, slot_id: slotId } = request.params;
  const describe = (): string => `schedule profile ${id}: slot ${slotId} deleted`;
  await change(context, request, describe, (tx) => store.deleteSlot(tx, id, slotId));
}

/** GET groups/{id}/schedule */
export async function readGroupSchedule(
  { database }: ApiContext,
  { params }: ById,
): Promise<FullScheduleProfile> {
  return store.readProfile(database, await store.profileOfGroup(database, params.id));
}

/** PUT groups/{id}/schedule */
export function assignSchedule(
  context: ApiContext,
  request: RouteRequest<IdParams, unknown, GroupScheduleChange>,
): Promise<GroupSchedule> {
  const { id } = request.params;
  const { profile_id: profileId } = request.body;
  const describe = (): string => `group ${id}: schedule profile ${profileId} assigned`;
  return change(context, request, describe, (tx) => store.assignProfile(tx, id, profileId));
}

/** DELETE groups/{id}/schedule */
export async function removeGroupSchedule(context: ApiContext, request: ById): Promise<void> {
  const { id } = request.params;
  const describe = (): string => `group ${id}: schedule removed`;
  await change(context, request, describe, (tx) => store.unassignProfile(tx, id));
}

/** Stores a change with its revision and puts it into force. */
async function change<T>(
  context: ApiContext,
  request: Pick<RouteRequest, 'caller'>,
  describe: (result: T) => string,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  return context.policy.change(authorOf(request), async (tx) => {
    const result = await work(tx);
    return { result, summary: describe(result) };
  });
}
