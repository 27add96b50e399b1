import { expect, test } from '@jest/globals';
import { Exclusion } from '../../../shared/query-log.ts';
import { excludedMacs, UncountedClients } from './excluded-clients.ts';

const MAC = '02:00:5e:10:00:01';
const excludedClients = [
  { mac: MAC, address: null, exclusion: Exclusion.STATS },
  { mac: null, address: '192.0.2.7', exclusion: Exclusion.BOTH },
  { mac: null, address: '192.0.2.8', exclusion: Exclusion.LOG },
];

test('UncountedClients contains the clients that statistics exclude, by MAC, address or key', () => {
  const keyed = { clientId: 9, key: 'phone', groupId: null, name: null, mac: null };
  const uncounted = new UncountedClients({
    excludedClients,
    keyedClients: [keyed, { ...keyed, clientId: 8, exclusion: Exclusion.STATS }],
  });
  const has = (id: number, mac: string | null, ip: string | null): boolean => uncounted.has({ id, mac, ip });
  expect([has(1, MAC, '192.0.2.8'), has(2, null, '192.0.2.7'), has(8, null, null)]).toEqual([
    true,
    true,
    true,
  ]);
  expect([has(3, null, '192.0.2.8'), has(9, null, null), has(4, null, null)]).toEqual([false, false, false]);
  expect(new UncountedClients().has({ id: 1, mac: MAC, ip: null })).toBe(false);
});

test('excludedMacs() maps each combination of exclusions to a value that no group has', () => {
  expect(excludedMacs(excludedClients)).toEqual([{ mac: MAC, groupId: -0.5 }]);
});
