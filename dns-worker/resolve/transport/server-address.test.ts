import { describe, expect, test } from '@jest/globals';
import { canonicalIp, parseServerAddress } from './server-address.ts';

describe('parseServerAddress', () => {
  test.each([
    ['192.0.2.1', { ip: '192.0.2.1', port: 53, family: 4 }],
    ['192.0.2.1:5353', { ip: '192.0.2.1', port: 5353, family: 4 }],
    ['udp://192.0.2.1', { ip: '192.0.2.1', port: 53, family: 4 }],
    ['2001:DB8:0::1', { ip: '2001:db8::1', port: 53, family: 6 }],
    ['[2001:db8::1]', { ip: '2001:db8::1', port: 53, family: 6 }],
    ['udp://[2001:db8::1]:54', { ip: '2001:db8::1', port: 54, family: 6 }],
    ['dns.example', null],
    ['192.0.2.1:0', null],
    ['192.0.2.1:65536', null],
    ['192.0.2', null],
    ['', null],
  ])('reads %j', (text, expected) => {
    expect(parseServerAddress(text, 53)).toEqual(expected);
  });
});

describe('canonicalIp, the canonical form of an address,', () => {
  test('formats an address as the system does and keeps its zone', () => {
    expect(canonicalIp('FE80:0:0::1%lo')).toBe('fe80::1%lo');
    expect(canonicalIp('0:0:0:0:0:0:0:1')).toBe('::1');
    expect(canonicalIp('192.0.2.1')).toBe('192.0.2.1');
  });
});
