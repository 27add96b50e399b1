import { describe, expect, test } from '@jest/globals';
import { bestAddresses } from './weir-addresses.ts';

describe('bestAddresses(), the addresses shown in a guide,', () => {
  test('are the first IPv4 address and the unique local IPv6 address', () => {
    const entered = {
      ipv4: ['192.0.2.53', '192.0.2.54'],
      ipv6: ['fd00::53'],
      linkLocal: ['fe80::53 (eth0)'],
    };
    expect(bestAddresses(entered)).toEqual({ ipv4: '192.0.2.53', ipv6: 'fd00::53' });
    expect(bestAddresses({ ...entered, ipv4: [], ipv6: [] })).toEqual({ ipv4: null, ipv6: null });
  });
});
