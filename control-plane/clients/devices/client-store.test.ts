import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { type TestDatabase, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { ClientRecord, StoredClient } from './client-record.ts';
import * as store from './client-store.ts';

let own: TestDatabase;

beforeAll(async () => {
  own = await startTestDatabase();
  await own.database.query("INSERT INTO groups (id, name) VALUES (7, 'kids')");
});
beforeEach(() => asOwner(own.database, 'TRUNCATE clients RESTART IDENTITY CASCADE'));
afterAll(() => own.stop());

const MAC = '02:00:5e:10:00:01';

function seen(change: Partial<ClientRecord>): ClientRecord {
  return {
    id: null,
    ip: '192.0.2.7',
    mac: null,
    key: null,
    addresses: ['192.0.2.7'],
    site: '',
    hostname: null,
    name: null,
    groupId: null,
    deviceId: null,
    isAcknowledged: false,
    excludeFromLog: false,
    excludeFromStats: false,
    firstSeenMs: 1000,
    lastSeenMs: 2000,
    storedQueries: 0,
    newQueries: 3,
    isDirty: true,
    ...change,
  };
}

function create(change: Partial<Parameters<typeof store.insertClient>[1]> = {}): Promise<StoredClient> {
  return store.insertClient(own.database, {
    ip_address: '192.0.2.7',
    mac_address: null,
    client_key: null,
    name: 'tv',
    group_id: 7,
    exclude_from_log: false,
    exclude_from_stats: false,
    ...change,
  });
}

describe('insertClient()', () => {
  test('adds settings to a client that was only observed', async () => {
    const [before] = await store.insertSeen(own.database, [seen({})], 'ip');
    expect(await create()).toEqual({
      id: before!.id,
      ip: '192.0.2.7',
      mac: null,
      key: null,
      addresses: ['192.0.2.7'],
      site: '',
      hostname: null,
      name: 'tv',
      groupId: 7,
      deviceId: null,
      isAcknowledged: false,
      firstSeenMs: 1000,
      lastSeenMs: 2000,
      queryCount: 3,
      excludeFromLog: false,
      excludeFromStats: false,
    });
  });

  test('refuses a client that already has a name or a group', async () => {
    await create({ group_id: null });
    await expect(create()).rejects.toMatchObject({
      status: 409,
      message: 'a client with 192.0.2.7 already exists',
    });
    await create({ mac_address: MAC, name: null });
    await expect(create({ mac_address: MAC, ip_address: null })).rejects.toMatchObject({ status: 409 });
  });

  test('refuses a group that does not exist', async () => {
    await expect(create({ group_id: 99 })).rejects.toMatchObject({ status: 400 });
  });
});

describe('updateClient()', () => {
  test('changes the given fields, sets fields to null, and keeps all other fields', async () => {
    const { id } = await create({ mac_address: MAC });
    expect(await store.updateClient(own.database, id, { name: null })).toMatchObject({
      ip: '192.0.2.7',
      mac: MAC,
      name: null,
      groupId: 7,
    });
    expect(await store.updateClient(own.database, id, { group_id: null, ip_address: null })).toMatchObject({
      ip: null,
      mac: MAC,
      groupId: null,
    });
    await expect(store.updateClient(own.database, id, { mac_address: null })).rejects.toMatchObject({
      status: 400,
    });
  });

  test('excludes a client from log or statistics; like other settings, the exclusion keeps the client stored', async () => {
    const { id } = await create({ name: null, group_id: null, exclude_from_log: true });
    expect(await store.updateClient(own.database, id, { exclude_from_stats: true })).toMatchObject({
      excludeFromLog: true,
      excludeFromStats: true,
    });
    await store.updateClient(own.database, id, { exclude_from_log: false });
    await store.deleteUntouched(own.database, [id]);
    expect(await store.readClient(own.database, id)).toMatchObject({
      excludeFromLog: false,
      excludeFromStats: true,
    });
  });

  test('refuses the MAC and the address of another client, and returns 404 for an unknown client', async () => {
    await create({ mac_address: MAC });
    await create({ ip_address: '192.0.2.8' });
    const { id } = await create({ ip_address: '192.0.2.9' });
    await expect(store.updateClient(own.database, id, { mac_address: MAC })).rejects.toMatchObject({
      message: 'a client with this MAC already exists',
    });
    await expect(store.updateClient(own.database, id, { ip_address: '192.0.2.8' })).rejects.toMatchObject({
      message: 'a client with this address already exists',
    });
    await expect(store.updateClient(own.database, 999, { name: 'x' })).rejects.toMatchObject({ status: 404 });
  });
});

describe('a client key', () => {
  test('belongs to one client, whatever its other identifiers, and may be its only identifier', async () => {
    const { id } = await create({ ip_address: null, client_key: 'phone' });
    expect(await store.readClient(own.database, id)).toMatchObject({ ip: null, mac: null, key: 'phone' });
    const taken = { message: 'a client with this key already exists' };
    await expect(create({ ip_address: null, client_key: 'phone' })).rejects.toMatchObject({ status: 409 });
    await expect(create({ client_key: 'phone' })).rejects.toMatchObject(taken);
    await expect(create({ mac_address: MAC, client_key: 'phone' })).rejects.toMatchObject(taken);
    const other = await create({ client_key: 'tv' });
    await expect(store.updateClient(own.database, other.id, { client_key: 'phone' })).rejects.toMatchObject(
      taken,
    );
    await expect(store.updateClient(own.database, id, { client_key: null })).rejects.toMatchObject({
      status: 400,
    });
    expect(await store.updateClient(own.database, other.id, { client_key: null })).toMatchObject({
      key: null,
    });
  });

  test('makes permanent a client that was only observed', async () => {
    const [before] = await store.insertSeen(own.database, [seen({ lastSeenMs: 2000 })], 'ip');
    expect(await create({ client_key: 'phone', name: null, group_id: null })).toMatchObject({
      ...{ id: before!.id, key: 'phone', queryCount: 3 },
    });
    await expect(create()).rejects.toMatchObject({ status: 409 });
    await store.insertSeen(own.database, [seen({})], 'ip');
    await store.deleteUntouched(own.database, [before!.id]);
    expect(await store.deleteUnseen(own.database, 5000)).toEqual([]);
    expect(await store.readClient(own.database, before!.id)).toMatchObject({ key: 'phone', queryCount: 6 });
  });
});

describe('readClients()', () => {
  test('returns clients with settings, and the most recently seen clients without settings', async () => {
    await create({ ip_address: '192.0.2.1' });
    const others = [3000, 5000, 4000].map((lastSeenMs, at) => seen({ ip: `192.0.2.1${at}`, lastSeenMs }));
    await store.insertSeen(own.database, others, 'ip');
    const read = await store.readClients(own.database, 3);
    expect(read.map(({ ip }) => ip)).toEqual(['192.0.2.1', '192.0.2.11', '192.0.2.12']);
  });
});

describe('insertSeen()', () => {
  test('merges new observations with those that another node has stored', async () => {
    await store.insertSeen(own.database, [seen({ hostname: 'tv.example' })], 'ip');
    const later = seen({
      firstSeenMs: 500,
      lastSeenMs: 1500,
      addresses: ['192.0.2.7', '2001:db8::7'],
      site: 'cabin',
    });
    expect(await store.insertSeen(own.database, [later], 'ip')).toMatchObject([
      {
        hostname: 'tv.example',
        addresses: ['192.0.2.7', '2001:db8::7'],
        site: 'cabin',
        firstSeenMs: 500,
        lastSeenMs: 2000,
        queryCount: 6,
      },
    ]);
  });

  test('distinguishes clients with a MAC from clients without a MAC at the same address', async () => {
    const [byAddress] = await store.insertSeen(own.database, [seen({})], 'ip');
    const [byMac] = await store.insertSeen(own.database, [seen({ mac: MAC })], 'mac');
    expect(byMac!.id).not.toBe(byAddress!.id);
    const [again] = await store.insertSeen(own.database, [seen({ mac: MAC, ip: '192.0.2.9' })], 'mac');
    expect(again).toMatchObject({ id: byMac!.id, ip: '192.0.2.9' });
  });
});

describe('addSightings()', () => {
  test('adds to counts, changes the address only of clients identified by MAC, and never decreases the last time', async () => {
    const [byAddress] = await store.insertSeen(own.database, [seen({})], 'ip');
    const [byMac] = await store.insertSeen(own.database, [seen({ mac: MAC })], 'mac');
    const sighting = { ip: '192.0.2.8', firstSeenMs: 1500, lastSeenMs: 1800, newQueries: 4 };
    await store.addSightings(own.database, [
      seen({ ...sighting, id: byAddress!.id }),
      seen({ ...sighting, id: byMac!.id, lastSeenMs: 9000 }),
    ]);
    const read = await Promise.all([byAddress, byMac].map((one) => store.readClient(own.database, one!.id)));
    expect(read).toMatchObject([
      { ip: '192.0.2.7', firstSeenMs: 1000, lastSeenMs: 2000, queryCount: 7 },
      { ip: '192.0.2.8', firstSeenMs: 1000, lastSeenMs: 9000, queryCount: 7 },
    ]);
  });
});

describe('deleteUnseen()', () => {
  test('deletes clients without settings that were last seen before the given time', async () => {
    await create();
    const records = [1999, 2000].map((lastSeenMs, at) => seen({ ip: `192.0.2.2${at}`, lastSeenMs }));
    const stored = await store.insertSeen(own.database, records, 'ip');
    const old = stored.find(({ lastSeenMs }) => lastSeenMs === 1999)!;
    expect(await store.deleteUnseen(own.database, 2000)).toEqual([old.id]);
    expect(await store.readClients(own.database, 9)).toHaveLength(2);
  });
});

describe('deleteUntouched()', () => {
  test('keeps clients with settings', async () => {
    const { id } = await create();
    const [untouched] = await store.insertSeen(own.database, [seen({ ip: '192.0.2.9' })], 'ip');
    await store.deleteUntouched(own.database, [id, untouched!.id]);
    expect((await store.readClients(own.database, 9)).map((client) => client.id)).toEqual([id]);
    expect(await store.deleteClient(own.database, id)).toMatchObject({ name: 'tv' });
    await expect(store.deleteClient(own.database, id)).rejects.toMatchObject({ status: 404 });
  });
});
