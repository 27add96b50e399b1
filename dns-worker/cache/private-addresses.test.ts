import { describe, expect, test } from '@jest/globals';
import { addressFromText, isMappedIpv4 } from '../../shared/net/ip.ts';
import { type TestRecord, octets, u16, wireName } from '../../test/support/dns/built-messages.ts';
import { answerWith } from '../../test/support/dns/record-bodies.ts';
import { prefixesIn } from './nat64-prefix.ts';
import { hasPrivateAddress } from './private-addresses.ts';

/** An address record. */
function addressRecord(text: string): TestRecord {
  const bytes = addressFromText(text)!;
  const isIpv4 = isMappedIpv4(bytes, 0) && !text.includes(':');
  return { owner: '.', type: isIpv4 ? 'A' : 'AAAA', ttl: 1, rdata: isIpv4 ? bytes.slice(12) : bytes };
}

/** An HTTPS record with parameters: key and value. */
function https(...params: [number, number[]][]): TestRecord {
  const written = params.flatMap(([key, value]) => [...u16(key), ...u16(value.length), ...value]);
  return { owner: '.', type: 'HTTPS', ttl: 1, rdata: octets(u16(1), wireName('a.example'), written) };
}

const isPrivate = (...records: TestRecord[]): boolean => hasPrivateAddress(answerWith(records));
const PUBLIC = addressRecord('192.0.2.1');
const HOME_V6 = [0xfd, ...Array<number>(15).fill(1)];

describe('hasPrivateAddress', () => {
  test.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '169.254.1.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '224.0.0.251',
    '239.255.255.250',
    '::',
    '::1',
    'fc00::1',
    'fdff::1',
    'fe80::1',
    'febf::1',
    'ff02::fb',
    '2002:c0a8:101::1',
    '2002:a00:1::',
    '64:ff9b::10.0.0.1',
    '64:ff9b::100.64.0.1',
  ])('finds %s, even after a public address', (text) => {
    expect(isPrivate(addressRecord(text))).toBe(true);
    expect(isPrivate(PUBLIC, addressRecord(text))).toBe(true);
  });

  test.each([
    '1.0.0.0',
    '9.255.255.255',
    '11.0.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '126.0.0.1',
    '128.0.0.1',
    '169.253.1.1',
    '169.255.1.1',
    '172.15.0.1',
    '172.32.0.1',
    '192.167.0.1',
    '192.169.0.1',
    '193.168.0.1',
    '223.255.255.255',
    '240.0.0.1',
    '::192.0.2.1',
    '64:ff9b::192.0.2.1',
    '64:ff9c::10.0.0.1',
    '64:ff9b:1::10.0.0.1',
    '64:ff9b::ffff:10.0.0.1',
    '65:ff9b::10.0.0.1',
    '0:0:0:1::10.0.0.1',
    '0:0:0:0:1::10.0.0.1',
    '::fffe:10.0.0.1',
    'fbff::1',
    'fe00::1',
    'fe7f::1',
    'fec0::1',
    '2002:c000:201::1',
    '2003:a00:1::',
    '2001:db8::1',
  ])('treats %s as a public address', (text) => {
    expect(isPrivate(addressRecord(text))).toBe(false);
  });

  test('recognizes IPv4-mapped IPv6 addresses', () => {
    const mapped = (last: number[]): TestRecord => {
      return { owner: '.', type: 'AAAA', ttl: 1, rdata: octets(Array<number>(10).fill(0), [255, 255], last) };
    };
    expect(isPrivate(mapped([10, 0, 0, 1]))).toBe(true);
    expect(isPrivate(mapped([192, 0, 2, 1]))).toBe(false);
  });

  test.each([
    ['an IPv4 hint', https([4, [192, 0, 2, 1, 10, 0, 0, 1]])],
    ['an IPv6 hint', https([6, HOME_V6])],
    ['a hint behind other parameters', https([1, [2, 104, 50]], [4, [192, 0, 2, 1]], [6, HOME_V6])],
  ])('finds %s', (_what, record) => {
    expect(isPrivate(record)).toBe(true);
  });

  test.each([
    ['public hints', https([4, [192, 0, 2, 1]], [6, [0x20, 1, 13, 0xb8, ...Array<number>(12).fill(0)]])],
    ['the bytes of an address in another parameter', https([5, [10, 0, 0, 1]])],
    ['the bytes of an address in another type', { ...addressRecord('10.0.0.1'), type: 'TXT' as const }],
    ['a hint that is cut off', https([4, [10, 0, 0]])],
    ['no parameters', https()],
  ])('ignores %s', (_what, record) => {
    expect(isPrivate(record)).toBe(false);
    expect(isPrivate(record, addressRecord('10.0.0.1'))).toBe(true);
  });

  test('checks the IPv4 address embedded in an address with a NAT64 prefix', () => {
    const prefixes = prefixesIn(answerWith([addressRecord('fd00:64::192.0.0.170')]));
    expect(prefixes).toHaveLength(1);
    const isFound = (text: string): boolean => hasPrivateAddress(answerWith([addressRecord(text)]), prefixes);
    expect(isFound('fd00:64::192.0.2.1')).toBe(false);
    expect(isFound('fd00:64::192.168.1.1')).toBe(true);
    expect(isFound('fd00:64::1:192.0.2.1')).toBe(true);
    expect(isFound('fd00:65::192.0.2.1')).toBe(true);
  });

  test('only checks the answer section, and ignores truncated records', () => {
    const answer = answerWith([PUBLIC, addressRecord('10.0.0.1')]);
    expect(hasPrivateAddress({ ...answer, answerCount: 1 })).toBe(false);
    for (let length = 0; length < answer.body.length; length++)
      expect(hasPrivateAddress({ ...answer, body: answer.body.slice(0, length) })).toBe(false);
  });
});
