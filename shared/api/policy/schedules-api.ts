/** Requests and responses of `{api}/schedule-profiles`, `{api}/groups/{id}/schedule` and `{api}/group-plans`. */
import { z } from 'zod';
import { minuteOfDay, timeOfDay } from '../../policy/time-of-day.ts';
import { isTimeZone } from '../../policy/time-zone.ts';
import { Comment, Id, IdParams, label, MAX_ID, text, Timestamp } from '../fields.ts';
import { ServiceBlockBody } from './services-api.ts';

const SlotAction = z.enum(['block_all', 'allow_all']).meta({
  description:
    'block_all blocks every query, allow_all disables all blocking; if both apply at the same time, ' +
    'block_all takes precedence',
});
const Days = z.int().min(1).max(127).meta({
  description:
    'sum of weekdays: Monday 1, Tuesday 2, Wednesday 4, Thursday 8, Friday 16, Saturday 32, Sunday 64',
});

const SKIPS =
  'whether the slot is ignored on the days off of its profile; a slot that spans midnight belongs to ' +
  'the day on which it ends';
/** Maximum number of ranges of days off. */
const MAX_DAYS_OFF = 100;
const Day = z.iso.date('expected YYYY-MM-DD').meta({ examples: ['2026-07-20'] });
const DayOffRange = z.strictObject({ from: Day, to: Day }).refine(({ from, to }) => from <= to, {
  message: 'expected a day that is not earlier than from',
  path: ['to'],
});

/** Days off, such as holidays; the last day is included. */
export const DaysOff = z.array(DayOffRange).max(MAX_DAYS_OFF).meta({
  description: 'ranges of days, first and last day included, on which slots with skips_days_off are ignored',
});
export type DaysOff = z.output<typeof DaysOff>;

export const ScheduleSlot = z
  .strictObject({
    id: Id,
    profile_id: Id,
    days: Days,
    start_time: z.string(),
    end_time: z.string(),
    action: SlotAction,
    skips_days_off: z.boolean().meta({ description: SKIPS }),
    created_at: Timestamp,
  })
  .meta({ id: 'ScheduleSlot' });
export type ScheduleSlot = z.infer<typeof ScheduleSlot>;

const profile = {
  id: Id,
  name: z.string(),
  timezone: z.string(),
  comment: z.string(),
  days_off: DaysOff,
  group_ids: z.array(Id).meta({ description: 'ids of the groups that the profile is assigned to' }),
  created_at: Timestamp,
  updated_at: Timestamp,
};
export const ScheduleProfile = z.strictObject(profile).meta({ id: 'ScheduleProfile' });
export type ScheduleProfile = z.infer<typeof ScheduleProfile>;
export const ScheduleProfileList = z.array(ScheduleProfile);

export const FullScheduleProfile = z
  .strictObject({ ...profile, slots: z.array(ScheduleSlot) })
  .meta({ id: 'FullScheduleProfile' });
export type FullScheduleProfile = z.infer<typeof FullScheduleProfile>;

/** The profile of a group, with its assignment. */
export const AssignedProfile = FullScheduleProfile.extend({ group_id: Id, profile_id: Id }).meta({
  id: 'AssignedProfile',
});
export type AssignedProfile = z.infer<typeof AssignedProfile>;

const Name = label(100);
const TimeZone = text(100)
  .refine(isTimeZone, 'expected the name of a time zone, such as Europe/Berlin')
  .meta({ examples: ['Europe/Berlin'] });

/** A time of day, at most `last`; converted to minutes since midnight. */
function time(last: number, expected: string) {
  return z
    .string()
    .transform((value, context) => {
      const minute = minuteOfDay(value);
      if (minute !== null && minute <= last) return minute;
      context.addIssue(expected);
      return z.NEVER;
    })
    .meta({ examples: [timeOfDay(last)] });
}

export const ScheduleSlotCreateBody = z
  .strictObject({
    days: Days,
    start_time: time(1439, 'expected HH:MM from 00:00 to 23:59'),
    end_time: time(1440, 'expected HH:MM from 00:00 to 24:00'),
    action: SlotAction,
    skips_days_off: z.boolean().default(false).meta({ description: SKIPS }),
  })
  .superRefine(({ start_time: start, end_time: end }, context) => {
    if (start !== end) return;
    const message = 'expected a time other than start_time; a whole day is 00:00 to 24:00';
    context.addIssue({ code: 'custom', path: ['end_time'], message });
  })
  .meta({
    id: 'ScheduleSlotCreate',
    description: 'a time slot; if its start is later than its end, the slot spans midnight',
  });
export type ScheduleSlotCreate = z.output<typeof ScheduleSlotCreateBody>;

/** Maximum number of slots of a new profile. */
const MAX_SLOTS = 1000;

export const ScheduleProfileCreateBody = z
  .strictObject({
    name: Name,
    timezone: TimeZone,
    comment: Comment.default(''),
    days_off: DaysOff.default([]),
    slots: z.array(ScheduleSlotCreateBody).max(MAX_SLOTS).default([]),
  })
  .meta({ id: 'ScheduleProfileCreate' });
export type ScheduleProfileCreate = z.output<typeof ScheduleProfileCreateBody>;

/** Absent fields keep their value. */
export const ScheduleProfileUpdateBody = z
  .strictObject({
    name: Name.optional(),
    timezone: TimeZone.optional(),
    comment: Comment.optional(),
    days_off: DaysOff.optional(),
  })
  .meta({ id: 'ScheduleProfileUpdate' });
export type ScheduleProfileUpdate = z.output<typeof ScheduleProfileUpdateBody>;

/** Path parameters of a slot. */
export const SlotParams = IdParams.extend({
  slot_id: z
    .string()
    .regex(/^\d{1,15}$/, 'expected an integer')
    .transform(Number)
    .meta({ type: 'integer', minimum: 1, maximum: MAX_ID }),
});
export type SlotParams = z.output<typeof SlotParams>;

export const GroupScheduleBody = z.strictObject({ profile_id: Id }).meta({ id: 'GroupScheduleChange' });

export const GroupSchedule = z
  .strictObject({ group_id: Id, profile_id: Id, created_at: Timestamp })
  .meta({ id: 'GroupSchedule' });
export type GroupSchedule = z.infer<typeof GroupSchedule>;

const { action: _action, ...times } = ScheduleSlotCreateBody.shape;
const PlanTimeBody = z
  .strictObject(times)
  .refine(({ start_time: start, end_time: end }) => start !== end, {
    message: 'expected a time other than start_time; a whole day is 00:00 to 24:00',
    path: ['end_time'],
  })
  .meta({
    id: 'PlanTimeChange',
    description: 'a period of time; if its start is later than its end, the period spans midnight',
  });
export type PlanTime = z.output<typeof PlanTimeBody>;

const PlanTime = ScheduleSlot.pick({
  days: true,
  start_time: true,
  end_time: true,
  skips_days_off: true,
}).meta({
  id: 'PlanTime',
});

const PlanService = z
  .strictObject({
    service_id: ServiceBlockBody.shape.service_id,
    always: z
      .boolean()
      .meta({ description: 'whether the service is blocked at all times, not only at `service_times`' }),
  })
  .meta({ id: 'PlanService' });

const MAX_CLIENTS = 1000;
const MAX_SERVICES = 1000;
const MAX_TIMES = 50;

function onlyOnce<Row>(what: string, keyOf: (row: Row) => unknown) {
  return [
    (rows: readonly Row[]) => new Set(rows.map(keyOf)).size === rows.length,
    `expected each ${what} once`,
  ] as const;
}

const Zone = TimeZone.meta({
  description: 'time zone of all times in the plan',
  examples: ['Europe/Berlin'],
});
const CLIENTS =
  'ids of the clients that are assigned to the group directly; clients that get the group from their ' +
  'subnet are left out';
const SERVICES =
  'services that are blocked for the group at all times or at `service_times`; services with a ' +
  'different schedule are left out';

export const GroupPlan = z
  .strictObject({
    id: Id.meta({ description: 'id of the group' }),
    name: z.string(),
    timezone: z.string(),
    client_ids: z.array(Id).meta({ description: CLIENTS }),
    services: z.array(PlanService).meta({ description: SERVICES }),
    service_times: z.array(PlanTime).meta({ description: 'times at which `services` are blocked' }),
    offline_times: z.array(PlanTime).meta({ description: 'times at which everything is blocked' }),
    days_off: DaysOff,
  })
  .meta({ id: 'GroupPlan' });
export type GroupPlan = z.infer<typeof GroupPlan>;
export const GroupPlanList = z.array(GroupPlan);

const plan = {
  name: label(90).meta({ examples: ['Mia'] }),
  timezone: Zone,
  client_ids: z
    .array(Id)
    .max(MAX_CLIENTS)
    .refine(...onlyOnce('client', (id: number) => id))
    .default([])
    .meta({ description: CLIENTS, examples: [[]] }),
  services: z
    .array(PlanService)
    .max(MAX_SERVICES)
    .refine(...onlyOnce('service', ({ service_id: id }: z.output<typeof PlanService>) => id))
    .default([])
    .meta({ examples: [[]] }),
  service_times: z
    .array(PlanTimeBody)
    .max(MAX_TIMES)
    .default([])
    .meta({
      description: 'times at which `services` are blocked; empty = at all times',
      examples: [[]],
    }),
  offline_times: z
    .array(PlanTimeBody)
    .max(MAX_TIMES)
    .default([])
    .meta({
      description: 'times at which everything is blocked',
      examples: [[]],
    }),
  days_off: DaysOff.default([]),
};

export const GroupPlanCreateBody = z.strictObject(plan).meta({ id: 'GroupPlanCreate' });

export const GroupPlanBody = z.strictObject(plan).meta({
  id: 'GroupPlanChange',
  description:
    'the whole plan of a group; clients, services and times that the body does not contain are removed ' +
    'from the group',
});
export type GroupPlanBody = z.output<typeof GroupPlanBody>;
