import { describe, expect, test } from '@jest/globals';
import { enteredAddresses, originForOthers, routerObstacle } from './router-state.ts';
import type { Reach } from './router-state.ts';

const REACH: Reach = {
  dns: { dns_port: 53, is_chosen: false, port_53: 'weir', holder: null, command: null },
  is_container: false,
  addresses: [
    { address: '192.0.2.5', kind: 'ipv4', interface: 'eth0' },
    { address: 'fd00::5', kind: 'ula', interface: 'eth0' },
    { address: 'fe80::5', kind: 'link_local', interface: 'eth0' },
  ],
  this_device: { address: '192.0.2.9', is_server: false, last_seen: null },
  devices: 0,
  names_active: 5,
};
const at = (hostname: string, port = '8080') => ({ protocol: 'http:', hostname, port });
const LOOPBACK = at('127.0.0.1');

describe('enteredAddresses(), the addresses to enter in a router,', () => {
  test('are network addresses of the server, even if the page was opened at a different address', () => {
    const entered = { ipv4: ['192.0.2.5'], ipv6: ['fd00::5'], linkLocal: ['fe80::5 (eth0)'] };
    expect(enteredAddresses(REACH, LOOPBACK)).toEqual(entered);
    expect(enteredAddresses(REACH, at('weir.home.arpa'))).toEqual(entered);
  });

  test.each([
    ['192.0.2.77', { ipv4: ['192.0.2.77'], ipv6: [] }],
    ['[fd00::77]', { ipv4: [], ipv6: ['fd00::77'] }],
    ['nas.home.arpa', { ipv4: [], ipv6: [] }],
    ['localhost', { ipv4: [], ipv6: [] }],
  ])('omit the addresses within the container if the page was opened at %s', (hostname, entered) => {
    expect(enteredAddresses({ ...REACH, is_container: true }, at(hostname))).toEqual({
      ...entered,
      linkLocal: [],
    });
  });
});

test.each<[string, Reach, ReturnType<typeof routerObstacle>, boolean?]>([
  ['port 53 and an address', REACH, null],
  ['another port', { ...REACH, dns: { ...REACH.dns, dns_port: 5300, port_53: 'free' } }, 'port'],
  ['no address of the network', { ...REACH, addresses: [] }, 'address'],
  ['lists that are not active yet', { ...REACH, names_active: 0 }, 'names'],
  ['no list on purpose', { ...REACH, names_active: 0 }, null, false],
  ['a container', { ...REACH, addresses: [], is_container: true }, null],
])('the obstacle to changing the router is right for %s', (_what, reach, obstacle, wantsLists = true) => {
  expect(routerObstacle(reach, LOOPBACK, wantsLists)).toBe(obstacle);
});

test('originForOthers() never returns a host name of the local machine', () => {
  expect(originForOthers(REACH, LOOPBACK)).toBe('http://192.0.2.5:8080');
  expect(originForOthers(REACH, at('weir.home.arpa', ''))).toBe('http://weir.home.arpa');
  expect(originForOthers({ ...REACH, addresses: [] }, at('[::1]'))).toBeNull();
});
