import { describe, expect, test } from '@jest/globals';
import { isAddressTrigger, networkOf, networkOfTrigger } from './address-trigger.ts';

describe('networkOf()', () => {
  test.each([
    ['192.0.2.1', { text: '192.0.2.1', prefixBits: 32, addressBits: 32 }],
    ['192.0.2.77/24', { text: '192.0.2.0/24', prefixBits: 24, addressBits: 32 }],
    ['192.0.2.1/32', { text: '192.0.2.1', prefixBits: 32, addressBits: 32 }],
    ['2001:db8::1', { text: '2001:db8::1', prefixBits: 128, addressBits: 128 }],
    ['2001:db8::1/32', { text: '2001:db8::/32', prefixBits: 32, addressBits: 128 }],
    ['::ffff:0:0/96', { text: '0.0.0.0/0', prefixBits: 0, addressBits: 32 }],
    ['a.example', null],
  ])('reads %s', (text, network) => {
    expect(networkOf(text)).toEqual(network);
  });
});

describe('isAddressTrigger()', () => {
  test('is true for owner names with labels before rpz-ip', () => {
    const owners = ['32.1.2.0.192.rpz-ip', 'x.RPZ-IP.zone.example', 'rpz-ip', 'a.rpz-ips', 'a.xrpz-ip'];
    expect(owners.map(isAddressTrigger)).toEqual([true, true, false, false, false]);
  });
});

describe('networkOfTrigger()', () => {
  test.each([
    ['32.1.2.0.192.rpz-ip', '192.0.2.1'],
    ['24.0.2.0.192.rpz-ip.zone.example', '192.0.2.0/24'],
    ['128.1.zz.db8.2001.rpz-ip', '2001:db8::1'],
    ['32.zz.db8.2001.rpz-ip', '2001:db8::/32'],
    ['128.zz.rpz-ip', '::'],
    ['128.1.zz.RPZ-IP', '::1'],
    ['128.8.7.6.5.4.3.2.1.rpz-ip', '1:2:3:4:5:6:7:8'],
    // Owners without a prefix length.
    ['192.0.2.1.rpz-ip', '192.0.2.1'],
    ['2001.db8.zz.1.rpz-ip', '2001:db8::1'],
    ['1.zz.db8.2001.rpz-ip', '2001:db8::1'],
    // Owners with bits after the prefix, or without a valid address.
    ['24.1.2.0.192.rpz-ip', null],
    ['33.1.2.0.192.rpz-ip', null],
    ['1.2.0.rpz-ip', null],
    ['rpz-ip', null],
    ['a.example', null],
  ])('reads %s', (owner, text) => {
    expect(networkOfTrigger(owner)?.text ?? null).toBe(text);
  });
});
