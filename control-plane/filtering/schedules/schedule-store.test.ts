import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import type { ScheduleProfile } from '../../../shared/api/policy/schedules-api.ts';
import { type TestDatabase, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import * as store from './schedule-store.ts';

let own: TestDatabase;

beforeAll(async () => {
  own = await startTestDatabase();
  await own.database.query("INSERT INTO groups (id, name) VALUES (7, 'kids')");
});
beforeEach(() => asOwner(own.database, 'TRUNCATE schedule_profiles RESTART IDENTITY CASCADE'));
afterAll(() => own.stop());

function insert(name: string): Promise<ScheduleProfile> {
  const timezone = 'Europe/Berlin';
  return store.insertProfile(own.database, { name, timezone, comment: '', days_off: [], slots: [] });
}

const NIGHT = {
  ...{ days: 0b1111111, start_time: 1320, end_time: 360 },
  ...{ action: 'block_all' as const, skips_days_off: false },
};

describe('stored schedule profiles', () => {
  test('are listed by name, regardless of letter case', async () => {
    for (const name of ['b', 'C', 'A']) await insert(name);
    expect((await store.listProfiles(own.database)).map(({ name }) => name)).toEqual(['A', 'b', 'C']);
  });

  test('keep the fields that updateProfile() does not get', async () => {
    const { id, created_at } = await insert('night');
    const updated = await store.updateProfile(own.database, id, { comment: 'why' });
    expect(updated).toMatchObject({ name: 'night', timezone: 'Europe/Berlin', comment: 'why', created_at });
    expect(await store.updateProfile(own.database, id, { name: 'NIGHT', timezone: 'UTC' })).toMatchObject({
      name: 'NIGHT',
      timezone: 'UTC',
      comment: 'why',
    });
    await expect(store.updateProfile(own.database, 99, { comment: '' })).rejects.toMatchObject({
      status: 404,
    });
  });

  test('are refused by insertProfile() and updateProfile() if their name is in use, regardless of letter case', async () => {
    await insert('Night');
    const { id } = await insert('day');
    const taken = { status: 409, message: 'a schedule profile named "nighT" already exists' };
    await expect(insert('nighT')).rejects.toMatchObject(taken);
    await expect(store.updateProfile(own.database, id, { name: 'nighT' })).rejects.toMatchObject(taken);
  });

  test('are deleted by deleteProfile() with slots and assignments', async () => {
    const { id } = await insert('night');
    await store.insertSlot(own.database, id, NIGHT);
    await store.assignProfile(own.database, 7, id);
    expect(await store.deleteProfile(own.database, id)).toBe('night');
    await expect(store.readProfile(own.database, id)).rejects.toMatchObject({ status: 404 });
    await expect(store.profileOfGroup(own.database, 7)).rejects.toMatchObject({ status: 404 });
    await expect(store.deleteProfile(own.database, id)).rejects.toMatchObject({ status: 404 });
  });
});

describe('stored time slots', () => {
  test('insertSlot() returns the stored slot as readProfile() does', async () => {
    const { id } = await insert('night');
    const slot = await store.insertSlot(own.database, id, NIGHT);
    expect(slot).toMatchObject({ profile_id: id, days: 127, start_time: '22:00', end_time: '06:00' });
    expect((await store.readProfile(own.database, id)).slots).toEqual([slot]);
    await expect(store.insertSlot(own.database, 99, NIGHT)).rejects.toMatchObject({ status: 404 });
  });

  test('deleteSlot() removes a slot only from the profile that it belongs to', async () => {
    const [night, day] = [await insert('night'), await insert('day')];
    const slot = await store.insertSlot(own.database, night.id, NIGHT);
    await expect(store.deleteSlot(own.database, day.id, slot.id)).rejects.toMatchObject({
      message: `slot ${slot.id} of schedule profile ${day.id} does not exist`,
    });
    await store.deleteSlot(own.database, night.id, slot.id);
    expect((await store.readProfile(own.database, night.id)).slots).toEqual([]);
  });
});

describe('stored schedules of groups', () => {
  test('assignProfile() replaces the previous profile', async () => {
    const [night, day] = [await insert('night'), await insert('day')];
    await store.assignProfile(own.database, 7, night.id);
    expect(await store.assignProfile(own.database, 7, day.id)).toMatchObject({
      group_id: 7,
      profile_id: day.id,
    });
    expect(await store.profileOfGroup(own.database, 7)).toBe(day.id);
    await store.unassignProfile(own.database, 7);
    await expect(store.unassignProfile(own.database, 7)).rejects.toMatchObject({ status: 404 });
  });

  test('assignProfile() reports whether the group or the profile does not exist', async () => {
    const { id } = await insert('night');
    await expect(store.assignProfile(own.database, 99, id)).rejects.toMatchObject({
      message: 'group 99 does not exist',
    });
    await expect(store.assignProfile(own.database, 7, 98)).rejects.toMatchObject({
      status: 400,
      fields: [{ path: 'profile_id', message: 'expected the id of an existing schedule profile' }],
    });
  });
});
