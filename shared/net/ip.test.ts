import { describe, expect, test } from '@jest/globals';
import { SocketAddress } from 'node:net';
import fc from '../../test/support/parts/fast-check.ts';
import { addressFromText, addressToText, isMappedIpv4 } from './ip.ts';

describe('addressFromText()', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::', '::'],
    ['::1', '::1'],
    ['2001:DB8::1', '2001:db8::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['fe80::1%eth0', 'fe80::1'],
  ])('addressFromText(%s) and addressToText() return %s', (text, canonical) => {
    expect(addressToText(addressFromText(text)!)).toBe(canonical);
  });

  test.each([
    [''],
    ['1.2.3'],
    ['1.2.3.256'],
    ['01.2.3.4'],
    ['1.2.3.4.5'],
    [':'],
    [':::'],
    ['1::2::3'],
    ['12345::'],
    ['1:2:3:4:5:6:7'],
    ['1:2:3:4:5:6:7:8:9'],
    ['1:2:3:4:5:6:7::8'],
    ['::1.2.3.4.5'],
    ['1.2.3.4::'],
    ['g::'],
  ])('addressFromText(%j) rejects an invalid address', (text) => {
    expect(addressFromText(text)).toBeNull();
  });

  test('gives the same result as the system for every IPv6 address', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const bytes = addressFromText(text);
        // fast-check also writes "1:2:3:4:5:6:7::", where "::" stands for a single group.
        if (bytes === null) return;
        const system = new SocketAddress({ address: text, family: 'ipv6' }).address;
        expect(bytes).toEqual(addressFromText(system));
      }),
    );
  });
});

describe('isMappedIpv4()', () => {
  test('is true for mapped IPv4 and false for IPv6 addresses, at any offset', () => {
    const both = Uint8Array.from([...addressFromText('2001:db8::1')!, ...addressFromText('192.0.2.1')!]);
    expect(isMappedIpv4(both, 0)).toBe(false);
    expect(isMappedIpv4(both, 16)).toBe(true);
  });
});
