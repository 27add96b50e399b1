/** Schedule profiles, slots and assignments, and the blocking switch, over HTTP and in the rows of policy. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { groupRoutes } from '../../clients/groups/group-routes.ts';
import { PolicyChanges } from '../../policy/change/change.ts';
import { readPolicyRows } from '../../policy/change/policy-store.ts';
import type { PolicyRows } from '../../policy/change/rows.ts';
import { revisionRoutes } from '../../transfer/revisions/revision-routes.ts';
import { blockingRoutes } from './blocking-routes.ts';
import { scheduleRoutes } from './schedule-routes.ts';
import { Blocking } from '../../../shared/api/policy/blocking-api.ts';
import {
  AssignedProfile,
  FullScheduleProfile,
  GroupSchedule,
  ScheduleProfile,
  ScheduleProfileList,
  ScheduleSlot,
} from '../../../shared/api/policy/schedules-api.ts';
import type { Revision } from '../../../shared/api/revisions-api.ts';
import { NO_LOCAL_SWITCH } from '../../../test/support/parts/every-route.ts';
import { RunningApi } from '../../../test/support/parts/running-api.ts';
import type { Rows, TestAnswer } from '../../../test/support/parts/running-api.ts';
import { openSuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';

/** Routes under test. */
const suiteRoutes: Rows = (parts) => [
  ...scheduleRoutes(parts),
  ...blockingRoutes({ ...parts, ...NO_LOCAL_SWITCH, policyRows: () => active }),
  ...groupRoutes(parts),
  ...revisionRoutes({ ...parts, activateRestored: () => Promise.resolve() }),
];

let suite: SuiteDatabase;
let api: RunningApi;
let active: PolicyRows;
let applied = 0;

const apply = async (): Promise<void> => {
  active = await readPolicyRows(suite.database, () => undefined);
  applied++;
};

beforeAll(async () => {
  suite = await openSuiteDatabase();
  await apply();
  const policy = new PolicyChanges(suite.database, { apply, threadsBehind: () => 0 });
  api = await RunningApi.start(suite.database, suiteRoutes, { policy });
});
afterEach(async () => {
  await suite.reset();
  await apply();
});
afterAll(async () => {
  await api.close();
  await suite.close();
});

const send = (method: string, path: string, json?: unknown): Promise<TestAnswer> =>
  api.send(method, `/api${path}`, json === undefined ? {} : { json });
const BEDTIME = { name: 'Bedtime', timezone: 'Europe/Berlin', comment: 'school days' };
const NIGHT = { days: 31, start_time: '21:30', end_time: '06:00', action: 'block_all' };
const createProfile = async (json: object = BEDTIME): Promise<ScheduleProfile> =>
  ScheduleProfile.parse((await send('POST', '/schedule-profiles', json)).body);
const addSlot = (profileId: number, json: unknown): Promise<TestAnswer> =>
  send('POST', `/schedule-profiles/${profileId}/slots`, json);
const schedules = async (): Promise<PolicyRows['schedules']> =>
  (await readPolicyRows(suite.database, () => undefined)).schedules;

describe('schedule profiles over the API', () => {
  test('are created, listed without slots, read with slots, changed and deleted', async () => {
    const answer = await send('POST', '/schedule-profiles', BEDTIME);
    const profile = ScheduleProfile.parse(answer.body);
    expect([answer.status, profile]).toEqual([201, expect.objectContaining(BEDTIME)]);
    const slotAnswer = await addSlot(profile.id, NIGHT);
    const slot = ScheduleSlot.parse(slotAnswer.body);
    expect([slotAnswer.status, slot]).toMatchObject([201, { ...NIGHT, profile_id: profile.id }]);
    expect(ScheduleProfileList.parse((await send('GET', '/schedule-profiles')).body)).toEqual([profile]);
    const path = `/schedule-profiles/${profile.id}`;
    const full = FullScheduleProfile.parse((await send('GET', path)).body);
    expect(full).toEqual({ ...profile, slots: [slot] });
    const changed = await send('PUT', path, { name: 'Night', timezone: 'America/New_York' });
    expect(ScheduleProfile.parse(changed.body)).toMatchObject({
      id: profile.id,
      name: 'Night',
      timezone: 'America/New_York',
      comment: BEDTIME.comment,
    });
    expect((await send('DELETE', `${path}/slots/${slot.id}`)).status).toBe(204);
    expect((await send('DELETE', `${path}/slots/${slot.id}`)).status).toBe(404);
    expect((await send('DELETE', path)).status).toBe(204);
    expect((await send('GET', path)).status).toBe(404);
    expect((await send('GET', '/schedule-profiles')).body).toEqual([]);
  });

  test.each([
    [{ ...BEDTIME, timezone: 'Mars/Olympus' }, 'timezone'],
    [{ ...BEDTIME, timezone: '+01:00' }, 'timezone'],
    [{ ...BEDTIME, timezone: '' }, 'timezone'],
    [{ name: 'x' }, 'timezone'],
    [{ timezone: 'UTC' }, 'name'],
    [{ ...BEDTIME, name: ' ' }, 'name'],
    [{ ...BEDTIME, slots: [{ ...NIGHT, days: 0 }] }, 'slots.0.days'],
    [{ ...BEDTIME, days_off: [{ from: '2026-07-02', to: '2026-07-01' }] }, 'days_off.0.to'],
    [{ ...BEDTIME, days_off: [{ from: '2026-02-30', to: '2026-03-01' }] }, 'days_off.0.from'],
    [{ ...BEDTIME, group: 1 }, 'group'],
  ])('are refused with 400, which names the field: %j', async (json, path) => {
    const answer = await send('POST', '/schedule-profiles', json);
    expect([answer.status, answer.problem.errors![0]!.path]).toEqual([400, path]);
    const { id } = await createProfile();
    const update = await send('PUT', `/schedule-profiles/${id}`, { timezone: 'Nowhere' });
    expect([update.status, update.problem.errors![0]!.path]).toEqual([400, 'timezone']);
  });

  test('are created with their slots and days off in one revision', async () => {
    const days_off = [{ from: '2026-07-01', to: '2026-08-14' }];
    const slots = [{ ...NIGHT, skips_days_off: true }, NIGHT];
    const { id } = await createProfile({ ...BEDTIME, days_off, slots });
    const path = `/schedule-profiles/${id}`;
    const full = FullScheduleProfile.parse((await send('GET', path)).body);
    expect(full).toMatchObject({
      days_off,
      slots: [{ skips_days_off: true }, { ...NIGHT, skips_days_off: false }],
    });
    expect((await send('GET', '/revisions')).body).toHaveLength(1);
    await send('PUT', '/groups/1/schedule', { profile_id: id });
    expect(await schedules()).toMatchObject([
      { daysOff: days_off, slots: [{ skipsDaysOff: true }, { skipsDaysOff: false }] },
    ]);
    await send('PUT', path, { comment: 'keeps days off' });
    expect((await send('PUT', path, { days_off: [] })).body).toMatchObject({ days_off: [] });
  });

  test('have unique names, and return 404 if unknown', async () => {
    await createProfile();
    expect((await send('POST', '/schedule-profiles', { ...BEDTIME, name: 'BEDTIME' })).status).toBe(409);
    const other = await createProfile({ ...BEDTIME, name: 'Other' });
    expect((await send('PUT', `/schedule-profiles/${other.id}`, { name: 'Bedtime' })).status).toBe(409);
    expect((await send('PUT', '/schedule-profiles/4711', { name: 'x' })).status).toBe(404);
    expect((await send('DELETE', '/schedule-profiles/4711')).status).toBe(404);
    expect((await addSlot(4711, NIGHT)).status).toBe(404);
    expect((await send('DELETE', `/schedule-profiles/${other.id}/slots/4711`)).status).toBe(404);
  });
});

describe('time slots over the API', () => {
  test.each([
    [{ days: 0 }, 'days'],
    [{ days: 128 }, 'days'],
    [{ days: 1.5 }, 'days'],
    [{ days: '31' }, 'days'],
    [{ start_time: '25:00' }, 'start_time'],
    [{ start_time: '24:00' }, 'start_time'],
    [{ start_time: '9:00' }, 'start_time'],
    [{ start_time: '09:60' }, 'start_time'],
    [{ end_time: '25:00' }, 'end_time'],
    [{ end_time: '24:01' }, 'end_time'],
    [{ end_time: '21:30' }, 'end_time'],
    [{ end_time: 360 }, 'end_time'],
    [{ action: 'block' }, 'action'],
    [{ name: 'x' }, 'name'],
  ])('are refused with 400, which names the field: %j', async (change, path) => {
    const { id } = await createProfile();
    const answer = await addSlot(id, { ...NIGHT, ...change });
    expect([answer.status, answer.problem.errors!.map((error) => error.path)]).toEqual([400, [path]]);
  });

  test.each([
    ['00:00', '24:00', 0, 1440],
    ['22:00', '00:00', 1320, 0],
    ['23:59', '24:00', 1439, 1440],
    ['08:00', '07:59', 480, 479],
  ])('from %s to %s are stored unchanged', async (start, end, startMinute, endMinute) => {
    const { id } = await createProfile();
    const slot = { days: 127, start_time: start, end_time: end, action: 'allow_all' };
    expect((await addSlot(id, slot)).body).toMatchObject(slot);
    await send('PUT', '/groups/1/schedule', { profile_id: id });
    expect(ScheduleProfileList.parse((await send('GET', '/schedule-profiles')).body)).toMatchObject([
      { id, group_ids: [1] },
    ]);
    expect(await schedules()).toEqual([
      {
        groupId: 1,
        profile: 'Bedtime',
        timezone: 'Europe/Berlin',
        slots: [{ days: 127, start: startMinute, end: endMinute, action: 'allow_all', skipsDaysOff: false }],
        daysOff: [],
      },
    ]);
  });
});

describe('schedules of groups over the API', () => {
  test('are assigned, replaced and removed, and each change is active immediately', async () => {
    const one = await createProfile();
    const other = await createProfile({ ...BEDTIME, name: 'Other' });
    expect((await send('GET', '/groups/1/schedule')).status).toBe(404);
    for (const profile of [one, other]) {
      const before = applied;
      const answer = await send('PUT', '/groups/1/schedule', { profile_id: profile.id });
      expect([answer.status, GroupSchedule.parse(answer.body)]).toMatchObject([
        200,
        { group_id: 1, profile_id: profile.id },
      ]);
      expect(applied).toBe(before + 1);
      const assigned = AssignedProfile.parse((await send('GET', '/groups/1/schedule')).body);
      expect(assigned.id).toBe(profile.id);
    }
    expect((await send('DELETE', '/groups/1/schedule')).status).toBe(204);
    expect((await send('DELETE', '/groups/1/schedule')).status).toBe(404);
    expect(active.schedules).toEqual([]);
    expect((await send('PUT', '/groups/4711/schedule', { profile_id: one.id })).status).toBe(404);
    expect((await send('PUT', '/groups/1/schedule', { profile_id: 4711 })).status).toBe(400);
    const bad = await send('PUT', '/groups/1/schedule', { profile_id: 'x' });
    expect([bad.status, bad.problem.errors![0]!.path]).toEqual([400, 'profile_id']);
  });

  test('are deleted with their profile, and with their group', async () => {
    const profile = await createProfile();
    await addSlot(profile.id, NIGHT);
    const group = (await send('POST', '/groups', { name: 'kids' })).body as { id: number };
    for (const id of [1, group.id]) await send('PUT', `/groups/${id}/schedule`, { profile_id: profile.id });
    expect((await send('DELETE', `/groups/${group.id}`)).status).toBe(204);
    expect(active.schedules.map(({ groupId }) => groupId)).toEqual([1]);
    expect((await send('DELETE', `/schedule-profiles/${profile.id}`)).status).toBe(204);
    expect(active.schedules).toEqual([]);
    const { rows } = await suite.database.query('SELECT FROM schedule_slots');
    expect(rows).toEqual([]);
  });

  test('are part of revisions and are restored by a rollback', async () => {
    const profile = await createProfile();
    await addSlot(profile.id, NIGHT);
    await send('PUT', '/groups/1/schedule', { profile_id: profile.id });
    const good = await schedules();
    const then = (await send('GET', '/revisions')).body as Revision[];
    expect(then.map(({ summary }) => summary)).toEqual([
      `group 1: schedule profile ${profile.id} assigned`,
      `schedule profile ${profile.id}: slot 21:30 to 06:00 (block_all) created`,
      'schedule profile Bedtime: created',
    ]);
    await send('DELETE', `/schedule-profiles/${profile.id}`);
    expect(await schedules()).toEqual([]);
    expect((await send('POST', `/revisions/${then[0]!.id}/rollback`)).status).toBe(200);
    expect(await schedules()).toEqual(good);
    expect(good[0]!.slots).toHaveLength(1);
  });
});

describe('the blocking switch over the API', () => {
  const read = async (): Promise<Blocking> => Blocking.parse((await send('GET', '/blocking')).body);

  test('follows the configuration until POST sets it, and again after DELETE', async () => {
    expect(await read()).toEqual({
      enabled: true,
      timer_secs: null,
      source: 'configuration',
      this_node_only: false,
    });
    const answer = await send('POST', '/blocking', { enabled: false });
    expect([answer.status, answer.body]).toEqual([
      200,
      { enabled: false, timer_secs: null, source: 'switch', this_node_only: false },
    ]);
    api.clock.advanceSecs(86_400);
    expect(await read()).toEqual({
      enabled: false,
      timer_secs: null,
      source: 'switch',
      this_node_only: false,
    });
    expect((await send('POST', '/blocking', { enabled: true, timer_secs: null })).status).toBe(200);
    expect(await read()).toEqual({
      enabled: true,
      timer_secs: null,
      source: 'switch',
      this_node_only: false,
    });
    expect((await send('DELETE', '/blocking')).status).toBe(204);
    expect(await read()).toEqual({
      enabled: true,
      timer_secs: null,
      source: 'configuration',
      this_node_only: false,
    });
    expect((await send('DELETE', '/blocking')).status).toBe(204);
  });

  test('follows the configuration again when its timer ends, if it did before the timer was set', async () => {
    const answer = await send('POST', '/blocking', { enabled: false, timer_secs: 300 });
    expect(answer.body).toEqual({ enabled: false, timer_secs: 300, source: 'switch', this_node_only: false });
    api.clock.advanceSecs(100);
    expect(await read()).toEqual({
      enabled: false,
      timer_secs: 200,
      source: 'switch',
      this_node_only: false,
    });
    api.clock.advanceSecs(200);
    expect(await read()).toEqual({
      enabled: true,
      timer_secs: null,
      source: 'configuration',
      this_node_only: false,
    });
  });

  test('has the state from before the first timer when the last of several timers ends', async () => {
    await send('POST', '/blocking', { enabled: false });
    await send('POST', '/blocking', { enabled: true, timer_secs: 60 });
    await send('POST', '/blocking', { enabled: true, timer_secs: 30 });
    expect(await read()).toEqual({ enabled: true, timer_secs: 30, source: 'switch', this_node_only: false });
    api.clock.advanceSecs(30);
    expect(await read()).toEqual({
      enabled: false,
      timer_secs: null,
      source: 'switch',
      this_node_only: false,
    });
    await send('POST', '/blocking', { enabled: true, timer_secs: 30 });
    api.clock.advanceSecs(30);
    expect(await read()).toEqual({
      enabled: false,
      timer_secs: null,
      source: 'switch',
      this_node_only: false,
    });
  });

  test.each([
    [{}, 'enabled'],
    [{ enabled: 'no' }, 'enabled'],
    [{ enabled: false, timer_secs: 0 }, 'timer_secs'],
    [{ enabled: false, timer_secs: -1 }, 'timer_secs'],
    [{ enabled: false, timer_secs: 1.5 }, 'timer_secs'],
    [{ enabled: false, timer_secs: 40_000_000 }, 'timer_secs'],
    [{ enabled: false, timer: 3 }, 'timer'],
  ])('refuses %j with 400, which names the field', async (json, path) => {
    const answer = await send('POST', '/blocking', json);
    expect([answer.status, answer.problem.errors![0]!.path]).toEqual([400, path]);
    expect(active.blockingSwitch).toBeNull();
  });
});
