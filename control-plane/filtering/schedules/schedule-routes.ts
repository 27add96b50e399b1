/** HTTP of `{api}/schedule-profiles` and `{api}/groups/{id}/schedule`; a change is in force when it is answered. */
import { IdParams } from '../../../shared/api/fields.ts';
import {
  FullScheduleProfile,
  GroupSchedule,
  GroupScheduleBody,
  ScheduleProfile,
  ScheduleProfileCreateBody,
  ScheduleProfileList,
  ScheduleProfileUpdateBody,
  ScheduleSlot,
  ScheduleSlotCreateBody,
  SlotParams,
} from '../../../shared/api/policy/schedules-api.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route, RouteRequest } from '../../api/route.ts';
import type { Database } from '../../storage/db/database.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import * as store from './schedule-store.ts';

/** Rows of schedule profiles, their slots and their groups. */
export function scheduleRoutes(context: { database: Database; policy: PolicyChanges }): Route[] {
  return [
    listProfiles(context.database),
    createProfile(context.policy),
    readProfile(context.database),
    updateProfile(context.policy),
    deleteProfile(context.policy),
    createSlot(context.policy),
    deleteSlot(context.policy),
    readGroupSchedule(context.database),
    assignSchedule(context.policy),
    removeGroupSchedule(context.policy),
  ];
}

function listProfiles(database: Database): Route {
  return route({
    method: 'GET',
    path: '/schedule-profiles',
    access: 'viewer',
    tag: 'Schedules',
    summary: 'All schedule profiles, without their slots',
    answer: ScheduleProfileList,
    handle: () => store.listProfiles(database),
  });
}

function readProfile(database: Database): Route {
  return route({
    method: 'GET',
    path: '/schedule-profiles/{id}',
    access: 'viewer',
    tag: 'Schedules',
    summary: 'One schedule profile with its slots',
    params: IdParams,
    answer: FullScheduleProfile,
    handle: ({ params }) => store.readProfile(database, params.id),
  });
}

function createProfile(policy: PolicyChanges): Route {
  return route({
    method: 'POST',
    path: '/schedule-profiles',
    access: 'admin',
    tag: 'Schedules',
    summary: 'Create a schedule profile',
    body: ScheduleProfileCreateBody,
    status: 201,
    answer: ScheduleProfile,
    errors: { 409: 'the name is taken' },
    handle: (request) => {
      const describe = ({ name }: ScheduleProfile): string => `schedule profile ${name}: created`;
      return change(policy, request, describe, (tx) => store.insertProfile(tx, request.body));
    },
  });
}

function updateProfile(policy: PolicyChanges): Route {
  return route({
    method: 'PUT',
    path: '/schedule-profiles/{id}',
    access: 'admin',
    tag: 'Schedules',
    summary: 'Change a schedule profile; absent fields keep their value',
    params: IdParams,
    body: ScheduleProfileUpdateBody,
    answer: ScheduleProfile,
    errors: { 409: 'the name is taken' },
    handle: (request) => {
      const describe = ({ name }: ScheduleProfile): string => `schedule profile ${name}: changed`;
      return change(policy, request, describe, (tx) =>
        store.updateProfile(tx, request.params.id, request.body),
      );
    },
  });
}

function deleteProfile(policy: PolicyChanges): Route {
  return route({
    method: 'DELETE',
    path: '/schedule-profiles/{id}',
    access: 'admin',
    tag: 'Schedules',
    summary: 'Delete a schedule profile, its slots and its assignments; overrides end at once',
    params: IdParams,
    handle: async (request) => {
      const describe = (name: string): string => `schedule profile ${name}: deleted`;
      await change(policy, request, describe, (tx) => store.deleteProfile(tx, request.params.id));
    },
  });
}

function createSlot(policy: PolicyChanges): Route {
  return route({
    method: 'POST',
    path: '/schedule-profiles/{id}/slots',
    access: 'admin',
    tag: 'Schedules',
    summary: 'Add a time slot to a schedule profile',
    params: IdParams,
    body: ScheduleSlotCreateBody,
    status: 201,
    answer: ScheduleSlot,
    handle: (request) => {
      const { id } = request.params;
      const describe = (slot: ScheduleSlot): string =>
        `schedule profile ${id}: slot ${slot.start_time} to ${slot.end_time} (${slot.action}) created`;
      return change(policy, request, describe, (tx) => store.insertSlot(tx, id, request.body));
    },
  });
}

function deleteSlot(policy: PolicyChanges): Route {
  return route({
    method: 'DELETE',
    path: '/schedule-profiles/{id}/slots/{slot_id}',
    access: 'admin',
    tag: 'Schedules',
    summary: 'Delete a time slot',
    params: SlotParams,
    handle: async (request) => {
      const { id, slot_id: slotId } = request.params;
      const describe = (): string => `schedule profile ${id}: slot ${slotId} deleted`;
      await change(policy, request, describe, (tx) => store.deleteSlot(tx, id, slotId));
    },
  });
}

function readGroupSchedule(database: Database): Route {
  return route({
    method: 'GET',
    path: '/groups/{id}/schedule',
    access: 'viewer',
    tag: 'Schedules',
    summary: 'The schedule profile of a group, with its slots; 404 where it has none',
    params: IdParams,
    answer: FullScheduleProfile,
    handle: async ({ params }) =>
      store.readProfile(database, await store.profileOfGroup(database, params.id)),
  });
}

function assignSchedule(policy: PolicyChanges): Route {
  return route({
    method: 'PUT',
    path: '/groups/{id}/schedule',
    access: 'admin',
    tag: 'Schedules',
    summary: 'Give a group a schedule profile, in place of the one it had',
    params: IdParams,
    body: GroupScheduleBody,
    answer: GroupSchedule,
    handle: (request) => {
      const { id } = request.params;
      const { profile_id: profileId } = request.body;
      const describe = (): string => `group ${id}: schedule profile ${profileId} assigned`;
      return change(policy, request, describe, (tx) => store.assignProfile(tx, id, profileId));
    },
  });
}

function removeGroupSchedule(policy: PolicyChanges): Route {
  return route({
    method: 'DELETE',
    path: '/groups/{id}/schedule',
    access: 'admin',
    tag: 'Schedules',
    summary: "Remove a group's schedule; its override ends at once",
    params: IdParams,
    handle: async (request) => {
      const { id } = request.params;
      const describe = (): string => `group ${id}: schedule removed`;
      await change(policy, request, describe, (tx) => store.unassignProfile(tx, id));
    },
  });
}

/** Stores a change with its revision and puts it into force. */
async function change<T>(
  policy: PolicyChanges,
  request: Pick<RouteRequest, 'caller' | 'http' | 'response'>,
  describe: (result: T) => string,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  return policy.change(authorOf(request), async (tx) => {
    const result = await work(tx);
    return { result, summary: describe(result) };
  });
}
