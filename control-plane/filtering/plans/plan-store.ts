/**
 * SQL of plans. A plan has no table: it is a group with its clients, its blocked services and two schedule profiles,
 * one with the times at which the services are blocked, and one with the times at which everything is blocked. A
 * profile that is also used elsewhere is not changed; instead, the group gets its own profile.
 */
import type { GroupPlan, GroupPlanBody, PlanTime } from '../../../shared/api/policy/schedules-api.ts';
import type { FullScheduleProfile } from '../../../shared/api/policy/schedules-api.ts';
import { minuteOfDay } from '../../../shared/policy/time-of-day.ts';
import { invalid } from '../../api/api-error.ts';
import { listGroups, readGroup } from '../../clients/groups/group-store.ts';
import type { StoredGroup } from '../../clients/groups/group-store.ts';
import type { Queryable } from '../../storage/db/database.ts';
import {
  assignProfile,
  deleteProfile,
  insertProfile,
  insertSlot,
  readProfiles,
  unassignProfile,
  updateProfile,
} from '../schedules/schedule-store.ts';

/** Purpose of the times of a plan: services or everything is blocked. */
type Use = 'services' | 'offline';

/** The blocked services of a group, in the order of their ids, and its profiles; null = no profile. */
interface PlanParts {
  readonly blocks: readonly BlockRow[];
  readonly services: FullScheduleProfile | null;
  readonly offline: FullScheduleProfile | null;
}

interface BlockRow {
  readonly group_id: number;
  readonly service_id: string;
  readonly profile_id: number | null;
}

/** The plans of all groups, Default first, then by name. */
export async function listPlans(db: Queryable): Promise<GroupPlan[]> {
  return plansOf(db, await listGroups(db));
}

/** The plan of a group; throws 404 if there is no such group. */
export async function readPlan(db: Queryable, groupId: number): Promise<GroupPlan> {
  const [plan] = await plansOf(db, [await readGroup(db, groupId)]);
  return plan!;
}

async function plansOf(db: Queryable, groups: readonly StoredGroup[]): Promise<GroupPlan[]> {
  const ids = groups.map(({ id }) => id);
  const clients = await db.query<{ id: number; group_id: number }>(
    'SELECT id, group_id FROM clients WHERE group_id = ANY($1::integer[]) ORDER BY id',
    [ids],
  );
  const clientsOf = Map.groupBy(clients.rows, ({ group_id: id }) => id);
  const parts = await readParts(db, ids);
  return groups.map((group) => {
    const clientIds = (clientsOf.get(group.id) ?? []).map(({ id }) => id);
    return planOf(group, clientIds, parts.get(group.id)!);
  });
}

function planOf(
  { id: groupId, name }: StoredGroup,
  clientIds: number[],
  { blocks, services, offline }: PlanParts,
): GroupPlan {
  const own = services?.id ?? null;
  const daysOff = [...(services?.days_off ?? []), ...(offline?.days_off ?? [])];
  return {
    id: groupId,
    name,
    timezone: services?.timezone ?? offline?.timezone ?? 'UTC',
    client_ids: clientIds,
    services: blocks
      .filter(({ profile_id: id }) => id === null || id === own)
      .map(({ service_id: id, profile_id: profileId }) => ({ service_id: id, always: profileId === null })),
    service_times: timesOf(services),
    offline_times: timesOf(offline),
    days_off: [...new Map(daysOff.map((range) => [`${range.from} ${range.to}`, range])).values()].sort(
      (one, other) => one.from.localeCompare(other.from),
    ),
  };
}

/** Replaces a group's clients, blocked services and times with those of a plan; throws 400 for unknown clients. */
export async function writePlan(tx: Queryable, groupId: number, plan: GroupPlanBody): Promise<void> {
  await writeClients(tx, groupId, plan.client_ids);
  const before = await readPartsOf(tx, groupId);
  await writeOfflineTimes(tx, groupId, plan, before.offline);
  await writeServices(tx, groupId, plan, before.services);
}

async function writeClients(tx: Queryable, groupId: number, ids: readonly number[]): Promise<void> {
  const found = await tx.query<{ id: number }>(
    'SELECT id FROM clients WHERE id = ANY($1::integer[]) AND (device_id IS NULL OR device_id = id)',
    [ids],
  );
  const known = new Set(found.rows.map(({ id }) => id));
  const unknown = ids.flatMap((id, index) => (known.has(id) ? [] : [index]));
  if (unknown.length > 0)
    throw invalid(
      unknown.map((index) => ({ path: `client_ids.${index}`, message: 'expected the id of a client' })),
    );
  await tx.query('UPDATE clients SET group_id = NULL WHERE group_id = $1 AND id <> ALL($2::integer[])', [
    groupId,
    ids,
  ]);
  await tx.query(
    'UPDATE clients SET group_id = $1 WHERE id = ANY($2::integer[]) AND group_id IS DISTINCT FROM $1',
    [groupId, ids],
  );
}

async function writeOfflineTimes(
  tx: Queryable,
  groupId: number,
  plan: GroupPlanBody,
  before: FullScheduleProfile | null,
): Promise<void> {
  const id = await profileFor(tx, { groupId, use: 'offline', plan, before });
  if (id !== null) {
    if (id !== before?.id) await assignProfile(tx, groupId, id);
  } else if (before !== null) {
    await unassignProfile(tx, groupId);
    await deleteIfUnused(tx, before.id);
  }
}

async function writeServices(
  tx: Queryable,
  groupId: number,
  plan: GroupPlanBody,
  before: FullScheduleProfile | null,
): Promise<void> {
  const id = await profileFor(tx, { groupId, use: 'services', plan, before });
  const wanted = plan.services.map(({ service_id: serviceId, always }) => ({
    service_id: serviceId,
    profile_id: always ? null : id,
  }));
  // A blocked service with other times is not part of the plan and is kept, unless the plan contains the service.
  await tx.query(
    `DELETE FROM blocked_services WHERE group_id = $1 AND (profile_id IS NULL OR profile_id = $2)
       AND service_id <> ALL($3::text[])`,
    [groupId, before?.id ?? null, wanted.map(({ service_id: serviceId }) => serviceId)],
  );
  await tx.query(
    `INSERT INTO blocked_services AS b (service_id, group_id, profile_id)
     SELECT v.service_id, $1, v.profile_id FROM jsonb_to_recordset($2) AS v(service_id text, profile_id integer)
     ON CONFLICT (service_id, group_id) DO UPDATE SET profile_id = excluded.profile_id
       WHERE b.profile_id IS DISTINCT FROM excluded.profile_id`,
    [groupId, JSON.stringify(wanted)],
  );
  if (before !== null && before.id !== id) await deleteIfUnused(tx, before.id);
}

interface Wanted {
  readonly groupId: number;
  readonly use: Use;
  readonly plan: GroupPlanBody;
  /** The group's current profile. */
  readonly before: FullScheduleProfile | null;
}

/** Id of the profile with the times of a plan; null = the plan has no times. */
async function profileFor(tx: Queryable, { groupId, use, plan, before }: Wanted): Promise<number | null> {
  const times = use === 'services' ? plan.service_times : plan.offline_times;
  const isUsed = use === 'offline' || plan.services.some(({ always }) => !always);
  // Times at which everything is allowed are not part of a plan, so they are kept.
  const allowing = before?.slots.filter(({ action }) => action === 'allow_all') ?? [];
  if ((times.length === 0 || !isUsed) && allowing.length === 0) return null;
  const { timezone, days_off: daysOff } = plan;
  if (before !== null && isSame(before, plan, times)) return before.id;
  const slots = [
    ...times.map((time) => ({ ...time, action: 'block_all' as const })),
    ...allowing.map(({ days, start_time: start, end_time: end, action, skips_days_off: skips }) => ({
      ...{ days, action, skips_days_off: skips },
      ...{ start_time: minuteOfDay(start)!, end_time: minuteOfDay(end)! },
    })),
  ];
  if (before === null || (await isUsedElsewhere(tx, before.id, groupId, use))) {
    const name = await freeName(tx, use === 'services' ? `${plan.name}: services` : `${plan.name}: offline`);
    return (await insertProfile(tx, { name, timezone, comment: '', days_off: daysOff, slots })).id;
  }
  await updateProfile(tx, before.id, { timezone, days_off: daysOff });
  await tx.query('DELETE FROM schedule_slots WHERE profile_id = $1', [before.id]);
  for (const slot of slots) await insertSlot(tx, before.id, slot);
  return before.id;
}

function isSame(before: FullScheduleProfile, plan: GroupPlanBody, times: readonly PlanTime[]): boolean {
  const textOf = (list: readonly object[]): string => JSON.stringify(list);
  const timed = timesOf(before).map(({ days, start_time: start, end_time: end, skips_days_off: skips }) => {
    return [days, minuteOfDay(start), minuteOfDay(end), skips];
  });
  const wanted = times.map(({ days, start_time: start, end_time: end, skips_days_off: skips }) => {
    return [days, start, end, skips];
  });
  const rangesOf = (ranges: GroupPlan['days_off']): string =>
    textOf(ranges.map(({ from, to }) => ({ from, to })));
  return (
    before.timezone === plan.timezone &&
    textOf(timed) === textOf(wanted) &&
    rangesOf(before.days_off) === rangesOf(plan.days_off)
  );
}

async function readPartsOf(db: Queryable, groupId: number): Promise<PlanParts> {
  return (await readParts(db, [groupId])).get(groupId)!;
}

/** The parts of plans, by group. The number of SQL queries does not depend on the number of groups. */
async function readParts(
  db: Queryable,
  groupIds: readonly number[],
): Promise<ReadonlyMap<number, PlanParts>> {
  const assigned = await db.query<{ group_id: number; profile_id: number }>(
    'SELECT group_id, profile_id FROM group_schedules WHERE group_id = ANY($1::integer[])',
    [groupIds],
  );
  const blocked = await db.query<BlockRow>(
    'SELECT group_id, service_id, profile_id FROM blocked_services WHERE group_id = ANY($1::integer[]) ORDER BY id',
    [groupIds],
  );
  const offlineOf = new Map(assigned.rows.map((row) => [row.group_id, row.profile_id]));
  const blocksOf = Map.groupBy(blocked.rows, ({ group_id: id }) => id);
  const ids = [...assigned.rows, ...blocked.rows].flatMap(({ profile_id: id }) => id ?? []);
  const profiles = new Map(
    (await readProfiles(db, [...new Set(ids)])).map((profile) => [profile.id, profile]),
  );
  const profileOf = (id: number | undefined): FullScheduleProfile | null =>
    id === undefined ? null : (profiles.get(id) ?? null);
  return new Map(
    groupIds.map((groupId) => {
      const blocks = blocksOf.get(groupId) ?? [];
      const timed = blocks.flatMap(({ profile_id: id }) => id ?? []);
      const services = profileOf(Math.min(...timed));
      return [groupId, { blocks, services, offline: profileOf(offlineOf.get(groupId)) }];
    }),
  );
}

function timesOf(profile: FullScheduleProfile | null): GroupPlan['service_times'] {
  return (profile?.slots ?? [])
    .filter(({ action }) => action === 'block_all')
    .map(({ days, start_time: start, end_time: end, skips_days_off: skips }) => {
      return { days, start_time: start, end_time: end, skips_days_off: skips };
    });
}

/** Whether another group uses a profile, or this group uses it for another purpose. */
async function isUsedElsewhere(tx: Queryable, id: number, groupId: number, use: Use): Promise<boolean> {
  const { rows } = await tx.query<{ used: boolean }>(
    `SELECT EXISTS (SELECT FROM group_schedules WHERE profile_id = $1 AND NOT ($3 = 'offline' AND group_id = $2))
       OR EXISTS (SELECT FROM blocked_services WHERE profile_id = $1 AND NOT ($3 = 'services' AND group_id = $2))
       AS used`,
    [id, groupId, use],
  );
  return rows[0]!.used;
}

/** Ids of the profiles with the times of a group. */
export async function profilesOf(db: Queryable, groupId: number): Promise<number[]> {
  const { services, offline } = await readPartsOf(db, groupId);
  return [...new Set([services, offline].flatMap((profile) => profile?.id ?? []))];
}

/** Deletes those of the given profiles that no group and no service uses. */
export async function deleteUnusedProfiles(tx: Queryable, ids: readonly number[]): Promise<void> {
  for (const id of ids) await deleteIfUnused(tx, id);
}

async function deleteIfUnused(tx: Queryable, id: number): Promise<void> {
  const { rowCount } = await tx.query(
    `SELECT FROM group_schedules WHERE profile_id = $1 UNION ALL SELECT FROM blocked_services WHERE profile_id = $1`,
    [id],
  );
  if (rowCount === 0) await deleteProfile(tx, id);
}

/** A name that no profile has: `name` itself, or `name` followed by the lowest free number. */
async function freeName(tx: Queryable, name: string): Promise<string> {
  const { rows } = await tx.query<{ name: string }>(
    `SELECT c.name FROM (SELECT CASE WHEN n = 1 THEN $1 ELSE $1 || ' ' || n END AS name, n
       FROM generate_series(1, 10000) n) c
     WHERE NOT EXISTS (SELECT FROM schedule_profiles p WHERE lower(p.name) = lower(c.name)) ORDER BY n LIMIT 1`,
    [name],
  );
  return rows[0]!.name;
}
