import { describe, expect, test } from '@jest/globals';
import { addressFromText, addressToText } from '../../shared/net/ip.ts';
import type { TestRecord } from '../../test/support/dns/built-messages.ts';
import { a } from '../../test/support/dns/built-messages.ts';
import { answerWith } from '../../test/support/dns/record-bodies.ts';
import { embeddedIpv4, type Nat64Prefix, prefixesIn } from './nat64-prefix.ts';

const aaaa = (text: string): TestRecord => ({
  ...{ owner: 'ipv4only.arpa', type: 'AAAA', ttl: 60 },
  rdata: addressFromText(text)!,
});
const found = (...texts: string[]): Nat64Prefix[] => prefixesIn(answerWith(texts.map(aaaa)));
const shown = (prefixes: readonly Nat64Prefix[]): string[] =>
  prefixes.map(({ bytes }) => {
    const whole = new Uint8Array(16);
    whole.set(bytes);
    return `${addressToText(whole)}/${bytes.length * 8}`;
  });

describe('prefixesIn(), which finds NAT64 prefixes (RFC 7050),', () => {
  // The forms of RFC 6052 section 2.2, here for 192.0.0.170 (c0 00 00 aa).
  test.each([
    ['2001:db8:c000:aa::', '2001:db8::/32'],
    ['2001:db8:1c0:0:aa::', '2001:db8:100::/40'],
    ['2001:db8:122:c000:0:aa00::', '2001:db8:122::/48'],
    ['2001:db8:122:3c0:0:aa::', '2001:db8:122:300::/56'],
    ['2001:db8:122:344:c0:0:aa00:0', '2001:db8:122:344::/64'],
    ['2001:db8:122:344::192.0.0.170', '2001:db8:122:344::/96'],
    ['fd00:64::192.0.0.171', 'fd00:64::/96'],
  ])('returns the prefix that %s announces: %s', (address, prefix) => {
    expect(shown(found(address))).toEqual([prefix]);
  });

  test('returns each prefix once, and none for records that announce no prefix', () => {
    expect(shown(found('fd00:64::192.0.0.170', 'fd00:64::192.0.0.171', '64:ff9b::192.0.0.170'))).toEqual([
      'fd00:64::/96',
      '64:ff9b::/96',
    ]);
    expect(found('fd00:64::192.0.2.1', '2001:db8:122:344:c0:0:aa00:1')).toEqual([]);
    expect(prefixesIn(answerWith([a('ipv4only.arpa', '192.0.0.170')]))).toEqual([]);
  });

  test('returns eight prefixes at most', () => {
    const many = Array.from({ length: 12 }, (_, i) => `fd00:${i + 1}::192.0.0.170`);
    expect(found(...many)).toHaveLength(8);
  });
});

describe('embeddedIpv4(), the IPv4 address in a NAT64 address,', () => {
  test.each([
    ['2001:db8:c000:aa::', '2001:db8:c000:201::', 0xc000_0201],
    ['2001:db8:122:344:c0:0:aa00:0', '2001:db8:122:344:c0:2:100:0', 0xc000_0201],
    ['fd00:64::192.0.0.170', 'fd00:64::192.0.2.1', 0xc000_0201],
    ['fd00:64::192.0.0.170', 'fd00:65::192.0.2.1', -1],
    // Not a prefix, because a bit of byte 8 is set.
    ['2001:db8:c000:aa::', '2001:db8:c000:201:100::', -1],
  ])('extracts the address after the prefix that %s announces: %s', (announced, address, ipv4) => {
    const prefixes = found(announced);
    expect(prefixes).toHaveLength(1);
    expect(embeddedIpv4(addressFromText(address)!, 0, prefixes)).toBe(ipv4);
  });
});
