import { describe, expect, test } from '@jest/globals';
import { networkFromText } from './cidr.ts';
import { reverseZonesOf } from './reverse-zone.ts';

describe('reverseZonesOf(), the reverse zones of a network,', () => {
  test.each([
    ['192.0.2.0/24', ['2.0.192.in-addr.arpa']],
    ['10.1.2.3/8', ['10.in-addr.arpa']],
    ['192.0.2.7/32', ['7.2.0.192.in-addr.arpa']],
    ['192.0.2.0/23', ['2.0.192.in-addr.arpa', '3.0.192.in-addr.arpa']],
    ['192.0.2.6/31', ['6.2.0.192.in-addr.arpa', '7.2.0.192.in-addr.arpa']],
    ['::ffff:192.0.2.1/120', ['2.0.192.in-addr.arpa']],
    ['2001:db8::/32', ['8.b.d.0.1.0.0.2.ip6.arpa']],
    ['fc00::/7', ['c.f.ip6.arpa', 'd.f.ip6.arpa']],
    ['fe80::/10', ['8.e.f.ip6.arpa', '9.e.f.ip6.arpa', 'a.e.f.ip6.arpa', 'b.e.f.ip6.arpa']],
  ])('returns the zones of %s', (text, zones) => {
    expect(reverseZonesOf(networkFromText(text)!)).toEqual(zones);
  });

  test('returns sixteen zones for 172.16.0.0/12', () => {
    const zones = reverseZonesOf(networkFromText('172.16.0.0/12')!);
    expect([zones.length, zones[0], zones[15]]).toEqual([16, '16.172.in-addr.arpa', '31.172.in-addr.arpa']);
  });
});
