/**
 * HTTP routes of `{api}/schedule-profiles` and `{api}/groups/{id}/schedule`. A change is stored and active when the
 * response is sent.
 */
import { codedAction, codedSubject, codedWord } from '../../../shared/policy/changes/change-codes.ts';
import type { CodedChange } from '../../../shared/policy/changes/change-codes.ts';
import { IdParams } from '../../../shared/api/fields.ts';
import {
  AssignedProfile,
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
import { entity } from '../../api/entity.ts';
import { authorOf, route } from '../../api/route.ts';
import type { ChangeRequest, Route } from '../../api/route.ts';
import type { Database } from '../../storage/db/database.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import * as store from './schedule-store.ts';

const profile = entity({
  path: '/schedule-profiles/{id}',
  params: IdParams,
  answer: FullScheduleProfile,
  body: ScheduleProfileUpdateBody,
  read: (db, { id }) => store.readProfile(db, id),
});

const slot = entity({
  path: '/schedule-profiles/{id}/slots/{slot_id}',
  params: SlotParams,
  answer: ScheduleSlot,
  body: ScheduleSlotCreateBody,
  read: (db, { id, slot_id: slotId }) => store.readSlot(db, id, slotId),
  placeOf: ({ id, profile_id: profileId }) => ({ id: profileId, slot_id: id }),
});

const groupSchedule = entity({
  path: '/groups/{id}/schedule',
  params: IdParams,
  answer: AssignedProfile,
  body: GroupScheduleBody,
  read: async (db, { id }) => ({ profile_id: await store.profileOfGroup(db, id) }),
});

/** The routes of schedule profiles, their slots and their groups. */
export function scheduleRoutes(context: { database: Database; policy: PolicyChanges }): Route[] {
  return [
    listProfiles(context.database),
    createProfile(context.policy),
    readProfile(context.database),
    updateProfile(context.policy),
    deleteProfile(context.policy),
    createSlot(context.policy),
    readSlot(context.database),
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
    entity: profile,
    handle: ({ params }) => store.readProfile(database, params.id),
  });
}

function createProfile(policy: PolicyChanges): Route {
  return route({
    method: 'POST',
    path: '/schedule-profiles',
    access: 'admin',
    tag: 'Schedules',
    summary: 'Create a schedule profile, with its slots if given',
    body: ScheduleProfileCreateBody,
    status: 201,
    answer: ScheduleProfile,
    entity: profile,
    errors: { 409: 'another schedule profile has this name' },
    handle: (request) => {
      const describe = ({ name }: ScheduleProfile): CodedChange => profileChange(name, 'created');
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
    entity: profile,
    errors: { 409: 'another schedule profile has this name' },
    handle: (request) => {
      const describe = ({ name }: ScheduleProfile): CodedChange => profileChange(name, 'changed');
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
    summary: 'Delete a schedule profile, its slots and its assignments; its overrides end immediately',
    params: IdParams,
    entity: profile,
    handle: async (request) => {
      const describe = (name: string): CodedChange => profileChange(name, 'deleted');
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
    entity: slot,
    handle: (request) => {
      const { id } = request.params;
      const describe = ({ start_time: start, end_time: end, action }: ScheduleSlot): CodedChange => ({
        subject: codedSubject('schedule_profile', { name: id }),
        action: codedAction('slot_created', { start, end, action: codedWord(action) }),
      });
      return change(policy, request, describe, (tx) => store.insertSlot(tx, id, request.body));
    },
  });
}

function readSlot(database: Database): Route {
  return route({
    method: 'GET',
    path: '/schedule-profiles/{id}/slots/{slot_id}',
    access: 'viewer',
    tag: 'Schedules',
    summary: 'One time slot',
    params: SlotParams,
    answer: ScheduleSlot,
    entity: slot,
    handle: ({ params }) => store.readSlot(database, params.id, params.slot_id),
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
    entity: slot,
    handle: async (request) => {
      const { id, slot_id: slotId } = request.params;
      const describe = (): CodedChange => ({
        subject: codedSubject('schedule_profile', { name: id }),
        action: codedAction('slot_deleted', { slot: slotId }),
      });
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
    summary: 'The schedule profile of a group, with its slots; 404 if it has none',
    params: IdParams,
    answer: AssignedProfile,
    entity: groupSchedule,
    handle: async ({ params }) => {
      const profileId = await store.profileOfGroup(database, params.id);
      const found = await store.readProfile(database, profileId);
      return { ...found, group_id: params.id, profile_id: profileId };
    },
  });
}

function assignSchedule(policy: PolicyChanges): Route {
  return route({
    method: 'PUT',
    path: '/groups/{id}/schedule',
    access: 'admin',
    tag: 'Schedules',
    summary: 'Assign a schedule profile to a group; it replaces the one that the group has',
    params: IdParams,
    body: GroupScheduleBody,
    answer: GroupSchedule,
    entity: groupSchedule,
    handle: (request) => {
      const { id } = request.params;
      const { profile_id: profileId } = request.body;
      const describe = (): CodedChange => ({
        subject: codedSubject('group', { name: id }),
        action: codedAction('schedule_assigned', { profile: profileId }),
      });
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
    summary: 'Remove the schedule profile of a group; its override ends immediately',
    params: IdParams,
    entity: groupSchedule,
    handle: async (request) => {
      const { id } = request.params;
      const describe = (): CodedChange => ({
        subject: codedSubject('group', { name: id }),
        action: codedAction('schedule_removed'),
      });
      await change(policy, request, describe, (tx) => store.unassignProfile(tx, id));
    },
  });
}

function profileChange(name: string, verb: 'created' | 'changed' | 'deleted'): CodedChange {
  return { subject: codedSubject('schedule_profile', { name }), action: codedAction(verb) };
}

/** Stores a change with its revision and applies it. */
async function change<T>(
  policy: PolicyChanges,
  request: ChangeRequest,
  describe: (result: T) => CodedChange,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  return policy.change(authorOf(request), async (tx) => {
    const result = await work(tx);
    return { result, summary: describe(result) };
  });
}
