/** Identities of clients, and their groups. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Exclusion } from '../../../shared/query-log.ts';
import { macIdentity } from '../../../shared/net/mac.ts';
import { ClientDirectory } from './client-directory.ts';
import type { StoredClient } from './client-record.ts';
import { NeighbourMap } from './neighbour-map.ts';

const MAC = '02:00:5e:10:00:01';
const OTHER_MAC = '02:00:5e:10:00:02';

/** The client with MAC at addresses that are not known yet. */
const ANYWHERE = { address: macIdentity(MAC), groupId: 2 };

let directory: ClientDirectory;
beforeEach(() => {
  directory = new ClientDirectory();
});

let lastId = 0;
function stored(change: Partial<StoredClient>): StoredClient {
  return {
    id: ++lastId,
    ip: null,
    mac: null,
    key: null,
    addresses: [],
    site: '',
    hostname: null,
    name: null,
    groupId: null,
    deviceId: null,
    isAcknowledged: false,
    firstSeenMs: null,
    lastSeenMs: null,
    queryCount: 0,
    excludeFromLog: false,
    excludeFromStats: false,
    ...change,
  };
}

const see = (address: string, queries = 1, lastSeenMs = 1000) =>
  directory.see({ address, queries, lastSeenMs });

describe('ClientDirectory.groupOf()', () => {
  const subnets = [
    { cidr: '192.0.2.0/24', groupId: 4 },
    { cidr: '192.0.2.128/25', groupId: 5 },
    { cidr: '2001:db8::/32', groupId: 6 },
    { cidr: '::/0', groupId: 7 },
  ];

  test.each([
    ['a group assigned to the MAC', { mac: MAC, ip: '192.0.2.7', groupId: 2 }, { groupId: 2, source: 'mac' }],
    ['a group assigned to the address', { ip: '192.0.2.7', groupId: 3 }, { groupId: 3, source: 'manual' }],
    ['the group of the subnet', { ip: '192.0.2.7' }, { groupId: 4, source: 'subnet' }],
    ['the group of the longest subnet', { mac: MAC, ip: '192.0.2.200' }, { groupId: 5, source: 'subnet' }],
    ['the group of the IPv6 subnet', { ip: '2001:db8::7' }, { groupId: 6, source: 'subnet' }],
    ['the group of the subnet ::/0', { ip: '2001:db9::7' }, { groupId: 7, source: 'subnet' }],
    ['no group', { ip: '198.51.100.7' }, { groupId: 1, source: 'default' }],
    ['no group before the client was seen', { mac: MAC }, { groupId: 1, source: 'default' }],
  ])('uses %s', (_what, client, expected) => {
    directory.follow({ macClients: [], subnets });
    expect(directory.groupOf(directory.put(stored(client)))).toEqual(expected);
  });
});

describe('ClientDirectory.see()', () => {
  test('records the time of a query but does not count it for a client that statistics exclude', () => {
    const client = directory.put(stored({ ip: '192.0.2.7' }));
    const keyed = directory.put(stored({ key: 'phone' }));
    const byKey = { clientId: keyed.id!, key: 'phone', groupId: null, name: null, mac: null };
    directory.follow({
      ...{ macClients: [], subnets: [] },
      excludedClients: [
        { mac: null, address: '192.0.2.7', exclusion: Exclusion.BOTH },
        { mac: null, address: '192.0.2.8', exclusion: Exclusion.LOG },
      ],
      keyedClients: [{ ...byKey, exclusion: Exclusion.STATS }],
    });
    expect(see('192.0.2.7', 3, 2000)).toBe(client);
    expect(client).toMatchObject({ newQueries: 0, firstSeenMs: 2000, lastSeenMs: 2000, isDirty: true });
    expect(see('192.0.2.8', 3, 2000).newQueries).toBe(3);
    directory.seeKeyed(keyed.id!, { address: '', queries: 2, lastSeenMs: 3000 });
    expect(keyed).toMatchObject({ newQueries: 0, lastSeenMs: 3000 });
  });

  test('treats addresses that share a MAC as one client', () => {
    directory.locate('192.0.2.7', MAC);
    directory.locate('2001:db8::7', MAC);
    const client = see('192.0.2.7', 3, 1000);
    expect(see('2001:db8::7', 2, 2000)).toBe(client);
    expect(client).toMatchObject({
      mac: MAC,
      ip: '2001:db8::7',
      addresses: ['2001:db8::7', '192.0.2.7'],
      newQueries: 5,
      firstSeenMs: 1000,
      lastSeenMs: 2000,
    });
    expect(see('192.0.2.8')).not.toBe(client);
  });

  test('merges a client known by address into the client with its MAC when this MAC becomes known', () => {
    const before = directory.put(stored({ ip: '192.0.2.7', queryCount: 40, firstSeenMs: 5, lastSeenMs: 6 }));
    see('192.0.2.7', 2);
    directory.locate('192.0.2.7', MAC);
    const client = see('192.0.2.7', 1, 3000);
    expect(client).not.toBe(before);
    expect(client).toMatchObject({ id: null, mac: MAC, newQueries: 43, firstSeenMs: 5, lastSeenMs: 3000 });
    expect(directory.obsoleteIds().ids).toEqual([before.id]);
    expect(directory.get(before.id!)).toBeUndefined();
  });

  test("counts a query by MAC, unless only the client with the sender's address has settings", () => {
    directory.locate('192.0.2.7', MAC);
    const device = directory.put(stored({ mac: MAC }));
    const byAddress = directory.put(stored({ ip: '192.0.2.7', groupId: 2 }));
    expect(see('192.0.2.7')).toBe(byAddress);
    directory.put(stored({ id: device.id!, mac: MAC, groupId: 3 }));
    expect(see('192.0.2.7')).toBe(device);
  });

  test('evicts the least recently seen client without a given name or group', () => {
    directory = new ClientDirectory({ maxClients: 20 });
    const manual = directory.put(stored({ ip: '192.0.2.1', name: 'TV', lastSeenMs: 1 }));
    for (let i = 2; i <= 20; i++) directory.put(stored({ ip: `192.0.2.${i}`, lastSeenMs: i }));
    see('192.0.2.77', 1, 1000);
    expect(directory.at('192.0.2.1')).toBe(manual);
    expect(directory.at('192.0.2.2')).toBeUndefined();
    expect(directory.at('192.0.2.3')).toBeDefined();
    expect(directory.obsoleteIds().ids).toHaveLength(1);
  });
});

describe('merged clients', () => {
  let main: ReturnType<ClientDirectory['put']>;
  let part: ReturnType<ClientDirectory['put']>;
  beforeEach(() => {
    const id = ++lastId;
    main = directory.put(stored({ id, deviceId: id, mac: MAC, name: 'Phone', groupId: 2, lastSeenMs: 5 }));
    part = directory.put(stored({ deviceId: id, mac: OTHER_MAC, hostname: 'random', lastSeenMs: 4 }));
    directory.locate('192.0.2.7', MAC);
    directory.locate('192.0.2.8', OTHER_MAC);
  });

  test('share one name and one group, but have separate counts for each address', () => {
    expect(see('192.0.2.8', 3, 9000)).toBe(part);
    expect([main.newQueries, part.newQueries]).toEqual([0, 3]);
    expect(directory.at('192.0.2.8')).toBe(main);
    expect(directory.nameAt('192.0.2.8')).toBe('Phone');
    expect(directory.nameAt('', part.id)).toBe('Phone');
    expect(directory.groupOf(part)).toEqual({ groupId: 2, source: 'mac' });
    expect(directory.countByGroup()).toEqual(new Map([[2, 1]]));
    expect(directory.placesOf(main.id!)).toEqual(['192.0.2.7', '192.0.2.8']);
    expect(directory.idsOf(main.id!)).toEqual([main.id, part.id]);
  });

  test('are listed once, with the latest time at which any of them was seen', () => {
    const other = directory.put(stored({ ip: '192.0.2.9', lastSeenMs: 8000 }));
    expect(directory.all()).toEqual([other, main]);
    see('192.0.2.8', 1, 9000);
    expect(directory.all()).toEqual([main, other]);
  });

  test('are all found by the client name in a rule', () => {
    const addresses = directory.locateNamed(['phone'])[0]!.addresses;
    expect(addresses).toEqual([macIdentity(MAC), '192.0.2.7', macIdentity(OTHER_MAC), '192.0.2.8']);
  });

  test('are never evicted, and are deleted together', () => {
    directory = new ClientDirectory({ maxClients: 3 });
    for (const one of [main, part]) directory.put({ ...stored({}), ...one, id: one.id!, queryCount: 0 });
    for (let i = 1; i < 9; i++) see(`198.51.100.${i}`, 1, i);
    expect(directory.get(part.id!)).toBeDefined();
    directory.remove(main.id!);
    expect([directory.get(part.id!), directory.at('192.0.2.8')]).toEqual([undefined, undefined]);
  });
});

describe('ClientDirectory.follow()', () => {
  test('returns the current addresses of clients whose group is assigned by MAC', () => {
    const rows = { macClients: [{ mac: MAC, groupId: 2 }], subnets: [] };
    directory.put(stored({ mac: MAC, groupId: 2, addresses: ['192.0.2.7', '192.0.2.6'] }));
    directory.put(stored({ mac: OTHER_MAC, addresses: ['192.0.2.9'] }));
    const addresses = () =>
      directory
        .follow(rows)
        .map(({ address, groupId }) => `${address} ${groupId}`)
        .slice(1);
    expect(directory.follow(rows)[0]).toEqual(ANYWHERE);
    expect(addresses()).toEqual(['192.0.2.7 2', '192.0.2.6 2']);
    expect(directory.locate('2001:db8::7', MAC)).toBe(true);
    expect(directory.locate('2001:db8::7', MAC)).toBe(false);
    expect(directory.locate('192.0.2.7', OTHER_MAC)).toBe(true);
    expect(addresses()).toEqual(['2001:db8::7 2', '192.0.2.6 2']);
  });

  test('ignores addresses that a client had at another site, because another device may use them at this site', () => {
    directory = new ClientDirectory({ site: 'cabin' });
    const rows = { macClients: [{ mac: MAC, groupId: 2 }], subnets: [] };
    const client = directory.put(stored({ mac: MAC, groupId: 2, addresses: ['192.0.2.7'], site: 'home' }));
    expect(directory.follow(rows)).toEqual([ANYWHERE]);
    expect(see('192.0.2.7')).not.toBe(client);
    directory.locate('192.0.2.9', MAC);
    expect(directory.follow(rows)).toEqual([ANYWHERE, { address: '192.0.2.9', groupId: 2 }]);
    expect(see('192.0.2.9')).toBe(client);
    expect(client).toMatchObject({ addresses: ['192.0.2.9'], site: 'cabin' });
  });

  test('identifies devices in the neighbour table before the database is up', () => {
    directory.locate('192.0.2.7', MAC);
    expect(directory.follow({ macClients: [{ mac: MAC, groupId: 2 }], subnets: [] })).toEqual([
      ANYWHERE,
      { address: '192.0.2.7', groupId: 2 },
    ]);
  });
});

describe('ClientDirectory.put()', () => {
  test('keeps the observed data of a client with settings', () => {
    directory.locate('192.0.2.7', MAC);
    const seen = see('192.0.2.7', 4, 2000);
    const client = directory.put(stored({ mac: MAC, name: 'Phone', groupId: 2, queryCount: 10 }));
    expect(client).toBe(seen);
    expect(client).toMatchObject({ ip: '192.0.2.7', name: 'Phone', storedQueries: 10, newQueries: 4 });
    expect(directory.nameAt('192.0.2.7')).toBe('Phone');
  });

  test('when a client is given a MAC, merges the observed client that has this MAC into the client', () => {
    directory.locate('192.0.2.7', MAC);
    see('192.0.2.7', 4);
    const { id } = directory.put(stored({ ip: '192.0.2.8', name: 'Phone' }));
    const client = directory.put(stored({ id: id!, ip: '192.0.2.8', mac: MAC, name: 'Phone' }));
    expect(client).toMatchObject({ id, newQueries: 4 });
    expect(directory.all()).toEqual([client]);
    expect(directory.dirty(10, 'new')).toEqual([]);
  });
});

describe('NeighbourMap', () => {
  test('keeps only the most recent addresses of a MAC', () => {
    const book = new NeighbourMap();
    for (let i = 1; i <= 20; i++) book.learn(`192.0.2.${i}`, MAC);
    expect(book.addressesOf(MAC)).toHaveLength(16);
    expect([book.macAt('192.0.2.4'), book.macAt('192.0.2.5')]).toEqual([null, MAC]);
  });

  test("keeps an address that is still in the kernel's table while other addresses of the same MAC change", () => {
    const book = new NeighbourMap();
    for (let day = 1; day <= 40; day++)
      for (const address of ['192.0.2.7', `2001:db8:${day}::7`]) book.learn(address, MAC);
    expect([book.macAt('192.0.2.7'), book.macAt('2001:db8:40::7')]).toEqual([MAC, MAC]);
    expect(book.addressesOf(MAC)).toHaveLength(16);
  });
});
