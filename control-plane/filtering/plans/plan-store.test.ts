/** Which schedule profiles a plan changes or keeps. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { type TestDatabase, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { GroupPlanBody } from '../../../shared/api/policy/schedules-api.ts';
import { assignProfile, insertProfile, listProfiles, readProfile } from '../schedules/schedule-store.ts';
import { insertBlocked, listBlocked } from '../services/service-store.ts';
import { listPlans, readPlan, writePlan } from './plan-store.ts';

let own: TestDatabase;

beforeAll(async () => {
  own = await startTestDatabase();
  await own.database.query("INSERT INTO groups (id, name) VALUES (7, 'Mia'), (8, 'Ben')");
});
beforeEach(() =>
  asOwner(own.database, 'TRUNCATE schedule_profiles, blocked_services RESTART IDENTITY CASCADE'),
);
afterAll(() => own.stop());

const NIGHT = { days: 127, start_time: 1320, end_time: 360, skips_days_off: false };
const LATER = { ...NIGHT, start_time: 1380 };
const plan = (change: Partial<GroupPlanBody>): GroupPlanBody => ({
  ...{ name: 'Mia', timezone: 'UTC', client_ids: [], services: [], service_times: [], offline_times: [] },
  days_off: [],
  ...change,
});
const profileNamed = async (
  name: string,
  action: 'block_all' | 'allow_all' = 'block_all',
): Promise<number> => {
  const slots = [{ ...NIGHT, action }];
  return (await insertProfile(own.database, { name, timezone: 'UTC', comment: '', days_off: [], slots })).id;
};
const names = async (): Promise<string[]> => (await listProfiles(own.database)).map(({ name }) => name);

describe('writePlan()', () => {
  test('gives the group its own copy of a schedule profile that another group also uses', async () => {
    const shared = await profileNamed('Nights');
    for (const group of [7, 8]) await assignProfile(own.database, group, shared);
    await writePlan(own.database, 7, plan({ offline_times: [NIGHT] }));
    expect(await names()).toEqual(['Nights']);
    await writePlan(own.database, 7, plan({ offline_times: [LATER] }));
    expect(await names()).toEqual(['Mia: offline', 'Nights']);
    expect((await readPlan(own.database, 8)).offline_times).toMatchObject([{ start_time: '22:00' }]);
    expect((await readPlan(own.database, 7)).offline_times).toMatchObject([{ start_time: '23:00' }]);
  });

  test('gives a new schedule profile the next free name, and deletes it when it is no longer used', async () => {
    await profileNamed('mia: OFFLINE');
    await writePlan(own.database, 7, plan({ offline_times: [NIGHT] }));
    expect(await names()).toEqual(['mia: OFFLINE', 'Mia: offline 2']);
    await writePlan(own.database, 7, plan({}));
    expect(await names()).toEqual(['mia: OFFLINE']);
  });

  test('keeps times at which everything is allowed', async () => {
    const id = await profileNamed('Free', 'allow_all');
    await assignProfile(own.database, 7, id);
    await writePlan(own.database, 7, plan({ offline_times: [LATER] }));
    expect((await readProfile(own.database, id)).slots.map(({ action }) => action)).toEqual([
      'block_all',
      'allow_all',
    ]);
    await writePlan(own.database, 7, plan({}));
    expect((await readProfile(own.database, id)).slots.map(({ action }) => action)).toEqual(['allow_all']);
  });

  test('keeps services that another schedule profile blocks, unless the plan names these services', async () => {
    const [first, second] = [await profileNamed('First'), await profileNamed('Second')];
    const block = (serviceId: string, profileId: number) =>
      insertBlocked(own.database, { service_id: serviceId, group_id: 7, profile_id: profileId });
    await block('youtube', first);
    await block('tiktok', second);
    await writePlan(own.database, 7, plan({}));
    expect(await listBlocked(own.database, 7)).toMatchObject([{ service_id: 'tiktok', profile_id: second }]);
    expect(await names()).toEqual(['Second']);
    await block('youtube', second);
    await writePlan(own.database, 7, plan({ services: [{ service_id: 'tiktok', always: true }] }));
    expect(await listBlocked(own.database, 7)).toMatchObject([{ service_id: 'tiktok', profile_id: null }]);
  });

  test('creates no schedule for services that are always blocked', async () => {
    const services = [{ service_id: 'youtube', always: true }];
    await writePlan(own.database, 7, plan({ services, service_times: [NIGHT] }));
    expect(await names()).toEqual([]);
    expect(await readPlan(own.database, 7)).toMatchObject({ services, service_times: [] });
  });
});

test('listPlans() needs as many database queries for many groups as for one group', async () => {
  await writePlan(own.database, 7, plan({ offline_times: [NIGHT] }));
  await writePlan(own.database, 8, plan({ services: [{ service_id: 'youtube', always: true }] }));
  let queries = 0;
  const counting: Queryable = {
    query: (text, values) => {
      queries++;
      return own.database.query(text, values);
    },
  };
  const one = await readPlan(counting, 7);
  const queriesOfOne = queries;
  const all = await listPlans(counting);
  expect(queries).toBe(2 * queriesOfOne);
  expect(all).toHaveLength(3);
  expect(all).toContainEqual(one);
  expect(all).toContainEqual(await readPlan(own.database, 8));
});
