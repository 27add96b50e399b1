import { beforeEach, describe, expect, test } from '@jest/globals';
import { ClientDirectory } from '../client-directory.ts';
import { silentDevices } from './silent-devices.ts';

const NOW_MS = Date.parse('2026-05-04T12:00:00Z');
const HOUR_MS = 3_600_000;
const TV = '02:00:5e:10:00:01';
const PHONE = '02:00:5e:10:00:02';
const ROUTER = '02:00:5e:10:00:03';

let clients: ClientDirectory;
const ask = (address: string, hoursAgo: number): void =>
  void clients.see({ address, queries: 1, lastSeenMs: NOW_MS - hoursAgo * HOUR_MS });
const silent = (sights: Parameters<typeof silentDevices>[0]) =>
  silentDevices(sights, clients, NOW_MS - 24 * HOUR_MS);

beforeEach(() => {
  clients = new ClientDirectory();
});

describe('silentDevices()', () => {
  test('lists devices that stopped querying before devices that never queried, and omits devices that still query', () => {
    const neighbours = [
      { address: '192.0.2.1', mac: ROUTER },
      { address: '192.0.2.7', mac: TV },
      { address: '192.0.2.8', mac: PHONE },
    ];
    clients.locateAll(neighbours);
    ask('192.0.2.7', 30);
    ask('192.0.2.8', 23);
    expect(silent({ neighbours, leases: [] })).toEqual([
      {
        ip_addresses: ['192.0.2.7'],
        mac_address: TV,
        vendor: null,
        private_address: true,
        hostname: null,
        name: null,
        client_id: null,
        last_seen: '2026-05-03T06:00:00.000Z',
        seen_in: ['neighbours'],
      },
      expect.objectContaining({ mac_address: ROUTER, last_seen: null }),
    ]);
  });

  test('identifies a device by its MAC, so that a query from any of its addresses counts', () => {
    const neighbours = [
      { address: '192.0.2.8', mac: PHONE },
      { address: '2001:db8::8', mac: PHONE },
    ];
    clients.locateAll(neighbours);
    ask('2001:db8::8', 1);
    expect(silent({ neighbours, leases: [] })).toEqual([]);
  });

  test('merges a DHCP lease with the neighbour entry of its device, and lists a lease without a MAC separately', () => {
    const leases = [
      { address: '192.0.2.7', mac: TV, hostname: 'tv' },
      { address: '192.0.2.9', mac: null, hostname: 'camera' },
    ];
    const devices = silent({ neighbours: [{ address: '192.0.2.7', mac: TV }], leases });
    expect(devices).toMatchObject([
      { hostname: 'tv', mac_address: TV, ip_addresses: ['192.0.2.7'], seen_in: ['leases', 'neighbours'] },
      { hostname: 'camera', mac_address: null, seen_in: ['leases'] },
    ]);
  });
});
