import { describe, expect, test } from '@jest/globals';
import type { NetworkInterfaceInfo } from 'node:os';
import { reachableAddress } from './node-address.ts';

function addressOf(address: string, more: Partial<NetworkInterfaceInfo> = {}): NetworkInterfaceInfo {
  const family = address.includes(':') ? 'IPv6' : 'IPv4';
  const info = { address, family, netmask: '', mac: '', cidr: null, internal: false, ...more };
  return info as NetworkInterfaceInfo;
}

const MACHINE = {
  lo: [addressOf('127.0.0.1', { internal: true }), addressOf('::1', { internal: true })],
  eth0: [addressOf('fe80::1', { scopeid: 2 }), addressOf('2001:db8::53'), addressOf('192.0.2.53')],
  eth1: [addressOf('198.51.100.53')],
};

describe('reachableAddress()', () => {
  test.each([
    [['0.0.0.0', '::'], '192.0.2.53'],
    [['::'], '2001:db8::53'],
    [['0.0.0.0'], '192.0.2.53'],
    [['127.0.0.1', '198.51.100.53'], '198.51.100.53'],
    [['127.0.0.1', '::1'], null],
    [['203.0.113.1'], null],
    [[], null],
  ])('of a node that listens at %j is %j', (bound, address) => {
    expect(reachableAddress(bound, MACHINE)).toBe(address);
  });

  test('is null for a machine without a network', () => {
    expect(reachableAddress(['0.0.0.0', '::'], { lo: MACHINE.lo })).toBeNull();
    expect(reachableAddress(['0.0.0.0'], { eth0: [addressOf('2001:db8::53')] })).toBe('2001:db8::53');
  });
});
