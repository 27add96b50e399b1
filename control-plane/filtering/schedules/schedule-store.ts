/** SQL of schedule profiles, their slots, and the groups to which they are assigned. */
import type {
  DaysOff,
  FullScheduleProfile,
  GroupSchedule,
  ScheduleProfile,
  ScheduleProfileCreate,
  ScheduleProfileUpdate,
  ScheduleSlot,
  ScheduleSlotCreate,
} from '../../../shared/api/policy/schedules-api.ts';
import { timeOfDay } from '../../../shared/policy/time-of-day.ts';
import { conflict, notFound, unknownReference } from '../../api/api-error.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../../storage/db/database-errors.ts';
import type { Queryable } from '../../storage/db/database.ts';

interface ProfileRow {
  readonly id: number;
  readonly name: string;
  readonly timezone: string;
  readonly comment: string;
  readonly days_off: DaysOff;
  readonly group_ids: number[];
  readonly created_at: Date;
  readonly updated_at: Date;
}

interface SlotRow {
  readonly id: number;
  readonly profile_id: number;
  readonly days: number;
  readonly start_minute: number;
  readonly end_minute: number;
  readonly action: ScheduleSlot['action'];
  readonly skips_days_off: boolean;
  readonly created_at: Date;
}

const GROUPS = `ARRAY(SELECT group_id FROM group_schedules s WHERE s.profile_id = schedule_profiles.id ORDER BY group_id)`;
const PROFILE = `id, name, timezone, comment, days_off, ${GROUPS} AS group_ids, created_at, updated_at`;
const SLOT = 'id, profile_id, days, start_minute, end_minute, action, skips_days_off, created_at';

/** All profiles by name, without their slots. */
export async function listProfiles(db: Queryable): Promise<ScheduleProfile[]> {
  const { rows } = await db.query<ProfileRow>(
    `SELECT ${PROFILE} FROM schedule_profiles ORDER BY lower(name)`,
  );
  return rows.map(toProfile);
}

/** One profile with its slots; throws 404 if it does not exist. */
export async function readProfile(db: Queryable, id: number): Promise<FullScheduleProfile> {
  const [profile] = await readProfiles(db, [id]);
  if (profile === undefined) throw notFound(`schedule profile ${id}`);
  return profile;
}

/** The profiles with these ids, with their slots; unknown ids are ignored. */
export async function readProfiles(db: Queryable, ids: readonly number[]): Promise<FullScheduleProfile[]> {
  const { rows } = await db.query<ProfileRow>(
    `SELECT ${PROFILE} FROM schedule_profiles WHERE id = ANY($1::integer[])`,
    [ids],
  );
  const slots = await db.query<SlotRow>(
    `SELECT ${SLOT} FROM schedule_slots WHERE profile_id = ANY($1::integer[]) ORDER BY id`,
    [ids],
  );
  const slotsOf = Map.groupBy(slots.rows, ({ profile_id: id }) => id);
  return rows.map((row) => ({ ...toProfile(row), slots: (slotsOf.get(row.id) ?? []).map(toSlot) }));
}

/** Stores a new profile with its slots; throws 409 if its name is in use, ignoring letter case. */
export async function insertProfile(tx: Queryable, profile: ScheduleProfileCreate): Promise<ScheduleProfile> {
  const text = `INSERT INTO schedule_profiles (name, timezone, comment, days_off) VALUES ($1, $2, $3, $4) RETURNING ${PROFILE}`;
  const values = [profile.name, profile.timezone, profile.comment, JSON.stringify(profile.days_off)];
  const { rows } = await refusingTakenNames(profile.name, () => tx.query<ProfileRow>(text, values));
  const stored = toProfile(rows[0]!);
  for (const slot of profile.slots) await insertSlot(tx, stored.id, slot);
  return stored;
}

/** Changes the given fields; throws 404 for an unknown id, or 409 if the name is in use. */
export async function updateProfile(
  tx: Queryable,
  id: number,
  change: ScheduleProfileUpdate,
): Promise<ScheduleProfile> {
  const text = `UPDATE schedule_profiles SET name = coalesce($2, name), timezone = coalesce($3, timezone),
    comment = coalesce($4, comment), days_off = coalesce($5, days_off), updated_at = now()
    WHERE id = $1 RETURNING ${PROFILE}`;
  const daysOff = change.days_off === undefined ? undefined : JSON.stringify(change.days_off);
  const values = [id, change.name, change.timezone, change.comment, daysOff];
  const { rows } = await refusingTakenNames(change.name, () => tx.query<ProfileRow>(text, values));
  if (rows[0] === undefined) throw notFound(`schedule profile ${id}`);
  return toProfile(rows[0]);
}

/** Deletes a profile, its slots and its assignments, and returns its name; throws 404 if it does not exist. */
export async function deleteProfile(tx: Queryable, id: number): Promise<string> {
  const { rows } = await tx.query<{ name: string }>(
    'DELETE FROM schedule_profiles WHERE id = $1 RETURNING name',
    [id],
  );
  if (rows[0] === undefined) throw notFound(`schedule profile ${id}`);
  return rows[0].name;
}

/** Stores a slot; throws 404 if there is no such profile. */
export async function insertSlot(
  tx: Queryable,
  profileId: number,
  slot: ScheduleSlotCreate,
): Promise<ScheduleSlot> {
  const text = `INSERT INTO schedule_slots (profile_id, days, start_minute, end_minute, action, skips_days_off)
    VALUES ($1, $2, $3, $4, $5, $6) RETURNING ${SLOT}`;
  const values = [profileId, slot.days, slot.start_time, slot.end_time, slot.action, slot.skips_days_off];
  try {
    const { rows } = await tx.query<SlotRow>(text, values);
    return toSlot(rows[0]!);
  } catch (error) {
    if (isForeignKeyViolation(error)) throw notFound(`schedule profile ${profileId}`);
    throw error;
  }
}

/** One slot; throws 404 if the profile does not contain it. */
export async function readSlot(db: Queryable, profileId: number, slotId: number): Promise<ScheduleSlot> {
  const text = `SELECT ${SLOT} FROM schedule_slots WHERE profile_id = $1 AND id = $2`;
  const { rows } = await db.query<SlotRow>(text, [profileId, slotId]);
  if (rows[0] === undefined) throw notFound(`slot ${slotId} of schedule profile ${profileId}`);
  return toSlot(rows[0]);
}

/** Deletes a slot; throws 404 if the profile does not contain it. */
export async function deleteSlot(tx: Queryable, profileId: number, slotId: number): Promise<void> {
  const text = 'DELETE FROM schedule_slots WHERE profile_id = $1 AND id = $2';
  const { rowCount } = await tx.query(text, [profileId, slotId]);
  if (rowCount === 0) throw notFound(`slot ${slotId} of schedule profile ${profileId}`);
}

/** Id of the profile of a group; throws 404 if the group has none or does not exist. */
export async function profileOfGroup(db: Queryable, groupId: number): Promise<number> {
  const text = 'SELECT profile_id FROM group_schedules WHERE group_id = $1';
  const { rows } = await db.query<{ profile_id: number }>(text, [groupId]);
  if (rows[0] === undefined) throw notFound(`schedule of group ${groupId}`);
  return rows[0].profile_id;
}

/**
 * Assigns a profile to a group, and replaces an earlier one; throws 404 for an unknown group, 400 for an unknown
 * profile.
 */
export async function assignProfile(
  tx: Queryable,
  groupId: number,
  profileId: number,
): Promise<GroupSchedule> {
  const text = `INSERT INTO group_schedules AS s (group_id, profile_id) VALUES ($1, $2)
    ON CONFLICT (group_id) DO UPDATE SET profile_id = excluded.profile_id,
      created_at = CASE WHEN s.profile_id = excluded.profile_id THEN s.created_at ELSE now() END
    RETURNING group_id, profile_id, created_at`;
  try {
    const { rows } = await tx.query<{ group_id: number; profile_id: number; created_at: Date }>(text, [
      groupId,
      profileId,
    ]);
    const row = rows[0]!;
    return { ...row, created_at: row.created_at.toISOString() };
  } catch (error) {
    if (isForeignKeyViolation(error, 'group_schedules_group_id_fkey')) throw notFound(`group ${groupId}`);
    if (isForeignKeyViolation(error)) throw unknownReference('profile_id', 'schedule profile');
    throw error;
  }
}

/** Removes the assignment of a group's profile; throws 404 if the group has none. */
export async function unassignProfile(tx: Queryable, groupId: number): Promise<void> {
  const { rowCount } = await tx.query('DELETE FROM group_schedules WHERE group_id = $1', [groupId]);
  if (rowCount === 0) throw notFound(`schedule of group ${groupId}`);
}

async function refusingTakenNames<T>(name: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, 'schedule_profiles_name_key'))
      throw conflict(`a schedule profile named "${name}" already exists`);
    throw error;
  }
}

function toProfile(row: ProfileRow): ScheduleProfile {
  return { ...row, created_at: row.created_at.toISOString(), updated_at: row.updated_at.toISOString() };
}

function toSlot({ start_minute: start, end_minute: end, ...row }: SlotRow): ScheduleSlot {
  return {
    ...row,
    start_time: timeOfDay(start),
    end_time: timeOfDay(end),
    created_at: row.created_at.toISOString(),
  };
}
