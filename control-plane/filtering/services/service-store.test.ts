import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import type { BlockedService, CustomService } from '../../../shared/api/policy/services-api.ts';
import { type TestDatabase, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import * as store from './service-store.ts';

let own: TestDatabase;

beforeAll(async () => {
  own = await startTestDatabase();
  await own.database.query("INSERT INTO groups (id, name) VALUES (7, 'kids')");
});
beforeEach(() => asOwner(own.database, 'TRUNCATE blocked_services, custom_services RESTART IDENTITY'));
afterAll(() => own.stop());

function insert(name: string): Promise<CustomService> {
  return store.insertCustom(own.database, { name, category: 'gambling', domains: ['a.example'] });
}

function block(serviceId: string, groupId: number): Promise<BlockedService> {
  const always = { service_id: serviceId, group_id: groupId, profile_id: null };
  return store.insertBlocked(own.database, always);
}

describe('stored blocked services', () => {
  test('insertBlocked() blocks a service once for each group', async () => {
    const first = await block('tube', 7);
    const second = await block('tube', 1);
    expect(await store.listBlocked(own.database, undefined)).toEqual([first, second]);
    expect(await store.listBlocked(own.database, 1)).toEqual([second]);
    expect(await store.readBlockedIds(own.database)).toEqual(new Set(['tube']));
    await expect(block('tube', 7)).rejects.toMatchObject({ status: 409 });
    await expect(block('tube', 99)).rejects.toMatchObject({
      status: 400,
      fields: [{ path: 'group_id' }],
    });
  });

  test('deleteBlocked() unblocks a service only for the given group', async () => {
    await block('tube', 7);
    await block('tube', 1);
    await store.deleteBlocked(own.database, 'tube', 7);
    expect(await store.listBlocked(own.database, undefined)).toMatchObject([{ group_id: 1 }]);
    await expect(store.deleteBlocked(own.database, 'tube', 7)).rejects.toMatchObject({ status: 404 });
  });
});

describe('insertCustom()', () => {
  test.each([
    ['My Games!', 'custom-my-games'],
    ['  --A--  ', 'custom-a'],
    ['Café Ünïque', 'custom-cafe-u-ni-que'],
    ['日本', 'custom-service'],
    ['x'.repeat(80), `custom-${'x'.repeat(60)}`],
  ])('derives an ID from the name %s', async (name, id) => {
    expect((await insert(name)).service_id).toBe(id);
  });

  test('adds the first free number to an ID that is in use', async () => {
    const ids: string[] = [];
    for (const name of ['a b', 'a-b', 'A+B']) ids.push((await insert(name)).service_id);
    expect(ids).toEqual(['custom-a-b', 'custom-a-b-2', 'custom-a-b-3']);
    await store.deleteCustom(own.database, 'custom-a-b-2', false);
    expect((await insert('a_b')).service_id).toBe('custom-a-b-2');
  });

  test('refuses a name that is in use, regardless of letter case', async () => {
    await insert('Games');
    await expect(insert('gAMES')).rejects.toMatchObject({
      status: 409,
      message: 'a custom service named "gAMES" already exists',
    });
  });
});

describe('updateCustom()', () => {
  test('changes the given fields, but not the ID', async () => {
    const before = await insert('games');
    const after = await store.updateCustom(own.database, before.service_id, {
      name: 'Play',
      domains: ['b.example'],
    });
    expect(after).toEqual({ ...before, name: 'Play', domains: ['b.example'], updated_at: after.updated_at });
    expect(await store.findCustom(own.database, before.service_id)).toEqual(after);
    expect(await store.listCustom(own.database)).toEqual([after]);
    await expect(store.updateCustom(own.database, 'custom-x', { name: 'x' })).rejects.toMatchObject({
      status: 404,
    });
    await insert('games');
    await expect(
      store.updateCustom(own.database, before.service_id, { name: 'GAMES' }),
    ).rejects.toMatchObject({ status: 409 });
  });
});

describe('deleteCustom()', () => {
  test('refuses a service that groups block; with force, unblocks and deletes the service', async () => {
    const { service_id: id } = await insert('games');
    for (const group of [7, 1]) await block(id, group);
    await block('tube', 7);
    const deletion = (force: boolean): Promise<string> =>
      own.database.transaction((tx) => store.deleteCustom(tx, id, force));
    await expect(deletion(false)).rejects.toMatchObject({
      status: 409,
      message: `custom service ${id} is blocked for groups 1, 7; delete it with force`,
    });
    expect(await store.listBlocked(own.database, undefined)).toHaveLength(3);
    expect(await deletion(true)).toBe('games');
    expect(await store.readBlockedIds(own.database)).toEqual(new Set(['tube']));
    expect(await store.findCustom(own.database, id)).toBeUndefined();
    await expect(deletion(true)).rejects.toMatchObject({ status: 404 });
  });
});
