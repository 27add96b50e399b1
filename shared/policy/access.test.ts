import { describe, expect, test } from '@jest/globals';
import { networkFromText } from '../net/cidr.ts';
import { addressFromText } from '../net/ip.ts';
import {
  accessOf,
  admitsAddress,
  admitsKey,
  blockedClientOf,
  EVERYONE,
  isAllowedClient,
  isSameAccess,
  withBlockedAddresses,
} from './access.ts';

const CONNECTED = ['198.51.100.0/24', '2001:db8:51::/64'].map((text) => networkFromText(text)!);
const bytes = (text: string): Uint8Array => addressFromText(text)!;

describe('accessOf(), which evaluates the allowed and blocked clients,', () => {
  test.each([
    [['private'], '192.168.1.7', true],
    [['private'], '10.255.0.1', true],
    [['private'], '172.32.0.1', false],
    [['private'], '100.64.0.1', true],
    [['private'], '169.254.3.4', true],
    [['private'], 'fe80::1', true],
    [['private'], 'fd12::1', true],
    [['private'], '198.51.100.7', false],
    [['private'], '2001:db8:51::7', false],
    [['connected'], '198.51.100.7', true],
    [['connected'], '2001:db8:51::7', true],
    [['connected'], '2001:db8:52::7', false],
    [['connected'], '192.168.1.7', false],
    [['any'], '203.0.113.1', true],
    [['any'], '2001:db8::1', true],
    [['203.0.113.0/28'], '203.0.113.15', true],
    [['203.0.113.0/28'], '203.0.113.16', false],
    // An IPv6 network contains no IPv4 address, and vice versa.
    [['::/0'], '203.0.113.1', false],
    [['0.0.0.0/0'], '2001:db8::1', false],
    [['::ffff:203.0.113.1'], '203.0.113.1', true],
    // The machine itself is always allowed.
    [[], '127.0.0.1', true],
    [[], '::1', true],
    [[], '203.0.113.1', false],
  ])('accessOf(%j) for %s is %s', (allowed, address, may) => {
    expect(admitsAddress(accessOf(allowed, [], CONNECTED), bytes(address))).toBe(may);
  });

  test('never allows blocked clients', () => {
    const access = accessOf(['any'], ['192.168.1.0/24', '02:00:5E:10:00:01', 'Old-Phone', '127.0.0.9'], []);
    expect(
      ['192.168.1.7', '127.0.0.9', '127.0.0.1'].map((text) => admitsAddress(access, bytes(text))),
    ).toEqual([false, false, true]);
    expect([access.blockedMacs, access.blockedKeys]).toEqual([['02:00:5e:10:00:01'], ['old-phone']]);
    const located = withBlockedAddresses(access, ['203.0.113.9', 'nonsense']);
    expect(admitsAddress(located, bytes('203.0.113.9'))).toBe(false);
    expect([isSameAccess(access, located), isSameAccess(access, { ...access })]).toEqual([false, true]);
    expect(withBlockedAddresses(access, [])).toBe(access);
  });

  test('EVERYONE allows all clients', () => {
    for (const address of ['203.0.113.1', '2001:db8::1', '::1', 'fe80::1'])
      expect(admitsAddress(EVERYONE, bytes(address))).toBe(true);
  });
});

describe('entries of the access lists', () => {
  test.each(['private', 'connected', 'any', '10.0.0.0/8', '192.0.2.1', '2001:db8::/32'])(
    'isAllowedClient() accepts %s',
    (text) => expect(isAllowedClient(text)).toBe(true),
  );
  test.each(['Private', '', 'lan', '10.0.0.0/33', 'fe80::1%eth0', '02:00:5e:10:00:01', 'phone.example'])(
    'isAllowedClient() rejects %j',
    (text) => expect(isAllowedClient(text)).toBe(false),
  );
  test.each([
    ['10.0.0.0/8', 'network'],
    ['::1', 'network'],
    ['02:00:5e:10:00:01', 'mac'],
    ['02-00-5E-10-00-01', 'mac'],
    ['02005e100001', 'key'],
    ['annas-phone', 'key'],
    ['two words', undefined],
    ['', undefined],
    ['any.example', undefined],
  ])('blockedClientOf(%j) is a %s', (text, kind) => expect(blockedClientOf(text)?.kind).toBe(kind));

  test.each([
    'k3v9x2q7w4m1z',
    '0123456789abcdef',
    '6f1d-0b2c-9a3e-4d57',
    'qjzkxvwpyghbmt',
    '12345678901234567890',
  ])('admitsKey() accepts %s, which can have 64 random bits', (key) => expect(admitsKey(key)).toBe(true));
  test.each([
    'annas-phone',
    'living-room-tv',
    'k3v9x2q7w4m1',
    '0123456789abcde',
    '1234567890123',
    'a------------1',
  ])('admitsKey() rejects %s, which has fewer than 64 random bits', (key) =>
    expect(admitsKey(key)).toBe(false),
  );
});
