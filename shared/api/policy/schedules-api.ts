/** Requests and answers of `{api}/schedule-profiles` and `{api}/groups/{id}/schedule`. */
import { z } from 'zod';
import { minuteOfDay, timeOfDay } from '../../policy/time-of-day.ts';
import { isTimeZone } from '../../policy/time-zone.ts';
import { Comment, Id, IdParams, label, MAX_ID, text, Timestamp } from '../fields.ts';

const SlotAction = z
  .enum(['block_all', 'allow_all'])
  .meta({ description: 'block every query, or bypass all blocking; where both hold, block_all wins' });
const Days = z
  .int()
  .min(1)
  .max(127)
  .meta({ description: 'weekdays: Monday 1, Tuesday 2, ... Sunday 64, added' });

export const ScheduleSlot = z
  .strictObject({
    id: Id,
    profile_id: Id,
    days: Days,
    start_time: z.string(),
    end_time: z.string(),
    action: SlotAction,
    created_at: Timestamp,
  })
  .meta({ id: 'ScheduleSlot' });
export type ScheduleSlot = z.infer<typeof ScheduleSlot>;

const profile = {
  id: Id,
  name: z.string(),
  timezone: z.string(),
  comment: z.string(),
  group_ids: z.array(Id).meta({ description: 'the groups that it is assigned to' }),
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

export const ScheduleProfileCreateBody = z
  .strictObject({ name: Name, timezone: TimeZone, comment: Comment.default('') })
  .meta({ id: 'ScheduleProfileCreate' });
export type ScheduleProfileCreate = z.output<typeof ScheduleProfileCreateBody>;

/** Absent fields keep their value. */
export const ScheduleProfileUpdateBody = z
  .strictObject({ name: Name.optional(), timezone: TimeZone.optional(), comment: Comment.optional() })
  .meta({ id: 'ScheduleProfileUpdate' });
export type ScheduleProfileUpdate = z.output<typeof ScheduleProfileUpdateBody>;

/** A time of day up to and including `last`, as minutes since midnight. */
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
  })
  .superRefine(({ start_time: start, end_time: end }, context) => {
    if (start !== end) return;
    const message = 'expected another time than start_time; a whole day is 00:00 to 24:00';
    context.addIssue({ code: 'custom', path: ['end_time'], message });
  })
  .meta({ id: 'ScheduleSlotCreate', description: 'a start after the end spans midnight' });
export type ScheduleSlotCreate = z.output<typeof ScheduleSlotCreateBody>;

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
