import { describe, expect, test } from '@jest/globals';
import { networkFromText, networkToText, reverseZonesOf } from './reverse-zone.ts';

describe('reverseZonesOf()', () => {
  test.each([
    ['192.0.2.0/24', ['2.0.192.in-addr.arpa']],
    ['10.1.2.3/8', ['10.in-addr.arpa']],
    ['192.0.2.7/32', ['7.2.0.192.in-addr.arpa']],
    ['192.0.2.0/23', ['2.0.192.in-addr.arpa', '3.0.192.in-addr.arpa']],
    ['192.0.2.6/31', ['6.2.0.192.in-addr.arpa', '7.2.0.192.in-addr.arpa']],
    ['2001:db8::/32', ['8.b.d.0.1.0.0.2.ip6.arpa']],
    ['fc00::/7', ['c.f.ip6.arpa', 'd.f.ip6.arpa']],
    ['fe80::/10', ['8.e.f.ip6.arpa', '9.e.f.ip6.arpa', 'a.e.f.ip6.arpa', 'b.e.f.ip6.arpa']],
  ])('gives the zones of %s', (text, zones) => {
    expect(reverseZonesOf(networkFromText(text)!)).toEqual(zones);
  });

  test('gives sixteen zones for 172.16.0.0/12', () => {
    const zones = reverseZonesOf(networkFromText('172.16.0.0/12')!);
    expect([zones.length, zones[0], zones[15]]).toEqual([16, '16.172.in-addr.arpa', '31.172.in-addr.arpa']);
  });
});

describe('networkFromText()', () => {
  test.each(['192.0.2.1', '192.0.2.0/33', '2001:db8::/129', 'example.org', '192.0.2.0/', '/24', '1.2.3/24'])(
    'refuses %s',
    (text) => {
      expect(networkFromText(text)).toBeNull();
    },
  );

  test.each([
    ['192.0.2.255/20', '192.0.0.0/20'],
    ['2001:DB8:0:0::1/33', '2001:db8::/33'],
    ['::ffff:192.0.2.1/120', '::ffff:192.0.2.0/120'],
  ])('clears the host bits of %s', (text, canonical) => {
    expect(networkToText(networkFromText(text)!)).toBe(canonical);
  });
});
