import { describe, expect, test } from '@jest/globals';
import { addressesIn } from './weir-addresses.ts';

describe('addressesIn()', () => {
  test.each([
    ['192.0.2.53', '192.0.2.53', null],
    ['[fd00::53]', null, 'fd00::53'],
    ['[2001:db8::53]', null, null],
    ['[::1]', null, null],
    ['127.0.0.1', null, null],
    ['weir.home.arpa', null, null],
  ])('finds in %s the addresses %s and %s', (hostname, ipv4, ipv6) => {
    expect(addressesIn(hostname)).toEqual({ ipv4, ipv6 });
  });
});
