import { expect, test } from '@jest/globals';
import type { NetworkInterfaceInfo } from 'node:os';
import { lanAddresses } from './lan-addresses.ts';

function at(address: string, internal = false): NetworkInterfaceInfo {
  const shared = { address, internal, mac: '02:00:00:00:00:01', netmask: '', cidr: null };
  return address.includes(':')
    ? { ...shared, family: 'IPv6', scopeid: address.startsWith('fe80') ? 2 : 0 }
    : { ...shared, family: 'IPv4' };
}

const MACHINE = {
  lo: [at('127.0.0.1', true), at('::1', true)],
  docker0: [at('172.17.0.1')],
  'br-5f1c': [at('172.18.0.1')],
  veth12: [at('fe80::12')],
  wg0: [at('10.8.0.1')],
  wlan0: [at('192.168.1.7')],
  eth0: [at('2001:db8::5'), at('fe80::5'), at('fd12:3456::5'), at('169.254.3.4'), at('192.168.1.5')],
};

const shown = (listening: readonly string[]): string[] =>
  lanAddresses(listening, MACHINE, 'eth0').map((one) => `${one.kind} ${one.address} ${one.interface}`);

test('lanAddresses() lists permanent addresses, but not those of loopback, containers, tunnels and the provider', () => {
  const v4 = ['ipv4 192.168.1.5 eth0', 'ipv4 192.168.1.7 wlan0'];
  expect(shown(['::'])).toEqual([...v4, 'ula fd12:3456::5 eth0', 'link_local fe80::5 eth0']);
  expect(shown(['0.0.0.0'])).toEqual(v4);
});

test('lanAddresses() lists only addresses on which the node listens', () => {
  expect(shown(['192.168.1.7', '127.0.0.1'])).toEqual(['ipv4 192.168.1.7 wlan0']);
  expect(shown(['127.0.0.1', '::1'])).toEqual([]);
});
