import { expect, test } from '@jest/globals';
import { ClientDirectory } from './client-directory.ts';
import { newRecord } from './client-record.ts';
import type { StoredClient } from './client-record.ts';
import { findClients, labelOf, toApiClient } from './client-view.ts';

const MAC = 'b8:27:eb:00:00:01';

function stored(change: Partial<StoredClient>): StoredClient {
  return { ...newRecord('192.0.2.7', null, ''), id: 1, queryCount: 0, ...change };
}

test('a merged client has the observed data of all its parts, and is found by each part', () => {
  const directory = new ClientDirectory();
  const seen = { firstSeenMs: 2_000, lastSeenMs: 3_000, queryCount: 5 };
  const main = directory.put(stored({ id: 1, deviceId: 1, name: 'Pi', ...seen }));
  const earlier = { ...seen, firstSeenMs: 1_000, lastSeenMs: 2_000 };
  directory.put(stored({ id: 2, deviceId: 1, ip: '192.0.2.8', mac: MAC, hostname: 'pi', ...earlier }));
  expect(toApiClient(directory, main)).toMatchObject({
    ...{ id: 1, name: 'Pi', vendor: null, query_count: 10 },
    first_seen: '1970-01-01T00:00:01.000Z',
    last_seen: '1970-01-01T00:00:03.000Z',
    merged: [{ id: 2, mac_address: MAC, vendor: 'Raspberry Pi Foundation', hostname: 'pi' }],
  });
  for (const search of ['RASPBERRY', '192.0.2.8', 'pi'])
    expect(findClients(directory, { search })).toEqual([main]);
});

test('clients without any name are found with the filter is_unnamed', () => {
  const directory = new ClientDirectory();
  const unnamed = directory.put(stored({ id: 1 }));
  const announced = directory.put(stored({ id: 2, ip: '192.0.2.8', hostname: 'tv' }));
  const named = directory.put(stored({ id: 3, ip: '192.0.2.9', name: 'TV' }));
  expect(findClients(directory, { is_unnamed: true })).toEqual([unnamed]);
  expect(findClients(directory, { is_unnamed: false })).toEqual(expect.arrayContaining([announced, named]));
});

test('labelOf() returns the name of a client, or its identifier if it has no name', () => {
  expect(labelOf(stored({ name: 'TV', mac: MAC }))).toBe('TV');
  expect(labelOf(stored({ mac: MAC }))).toBe(MAC);
  expect(labelOf(stored({ ip: null, key: 'tv' }))).toBe('tv');
});
