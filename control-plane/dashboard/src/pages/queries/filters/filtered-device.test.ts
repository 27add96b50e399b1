import { expect, test } from '@jest/globals';
import { filteredDevice } from './filtered-device.ts';

const CLIENTS = [
  { id: 3, ip_address: null, merged: [] },
  { id: 4, ip_address: '192.0.2.4', merged: [{ ip_address: '192.0.2.5' }] },
];

test.each([
  [{}, ''],
  [{ client_id: '9' }, '9'],
  [{ client: '192.0.2.4' }, '4'],
  [{ client: '192.0.2.5' }, '4'],
  [{ client: '192.0.2.0/24' }, ''],
  [{ client: '192.0.2.6' }, ''],
  [{ 'client!': '192.0.2.4' }, ''],
])('the log filters %j select the device "%s"', (filters: Record<string, string>, device) => {
  expect(filteredDevice(filters, CLIENTS)).toBe(device);
});

test('a log filter by address selects no device until the devices have loaded', () => {
  expect(filteredDevice({ client: '192.0.2.4' }, undefined)).toBeUndefined();
  expect(filteredDevice({ client_id: '9' }, undefined)).toBe('9');
});
