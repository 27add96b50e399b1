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

describe('the addresses to enter', () => {
  test('are those of the network, whatever address the page was opened at', () => {
    const entered = { ipv4: ['192.0.2.5'], ipv6: ['fd00::5', 'fe80::5'] };
    expect(enteredAddresses(REACH, LOOPBACK)).toEqual(entered);
    expect(enteredAddresses(REACH, at('weir.home.arpa'))).toEqual(entered);
  });

  test.each([
    ['192.0.2.77', { ipv4: ['192.0.2.77'], ipv6: [] }],
    ['[fd00::77]', { ipv4: [], ipv6: ['fd00::77'] }],
    ['nas.home.arpa', { ipv4: [], ipv6: [] }],
    ['localhost', { ipv4: [], ipv6: [] }],
  ])('of a container that was opened at %s are not those of the container', (hostname, entered) => {
    expect(enteredAddresses({ ...REACH, is_container: true }, at(hostname))).toEqual(entered);
  });
});

test.each<[string, Reach, ReturnType<typeof routerObstacle>]>([
  ['port 53 and an address', REACH, null],
  ['another port', { ...REACH, dns: { ...REACH.dns, dns_port: 5300, port_53: 'free' } }, 'port'],
  ['no address of the network', { ...REACH, addresses: [] }, 'address'],
  ['a container', { ...REACH, addresses: [], is_container: true }, null],
])('with %s the router may be changed, or not', (_what, reach, obstacle) => {
  expect(routerObstacle(reach, LOOPBACK)).toBe(obstacle);
});

test('originForOthers() is never a name of the machine itself', () => {
  expect(originForOthers(REACH, LOOPBACK)).toBe('http://192.0.2.5:8080');
  expect(originForOthers(REACH, at('weir.home.arpa', ''))).toBe('http://weir.home.arpa');
  expect(originForOthers({ ...REACH, addresses: [] }, at('[::1]'))).toBeNull();
});
