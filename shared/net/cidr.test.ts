/** Networks to and from text. */
import { describe, expect, test } from '@jest/globals';
import { networkFromText, networkToText } from './cidr.ts';
import { canonicalMac } from './mac.ts';

const canonical = (text: string): string | null => {
  const network = networkFromText(text);
  return network === null ? null : networkToText(network);
};

describe('networkFromText()', () => {
  test.each([
    ['192.0.2.77/24', '192.0.2.0/24'],
    ['192.0.2.77', '192.0.2.77/32'],
    ['203.0.113.255/31', '203.0.113.254/31'],
    ['10.1.2.3/0', '0.0.0.0/0'],
    ['2001:DB8::1/32', '2001:db8::/32'],
    ['2001:db8:ffff:ffff::/33', '2001:db8:8000::/33'],
    ['2001:db8::1', '2001:db8::1/128'],
    ['2001:db8::/0', '::/0'],
    ['::ffff:192.0.2.9/120', '192.0.2.0/24'],
    ['::ffff:192.0.2.9/95', '::fffe:0:0/95'],
  ])('reads %s as %s', (text, expected) => expect(canonical(text)).toBe(expected));

  test.each([
    '',
    '/',
    '/24',
    '192.0.2.0/',
    '192.0.2.0/33',
    '192.0.2.0/-1',
    '192.0.2.0/024',
    '192.0.2.0/2 ',
    '192.0.2/24',
    '192.0.2.0/24/24',
    '192.0.2.0/255.255.255.0',
    '2001:db8::/129',
    'fe80::%eth0/64',
    'fe80::1%eth0',
    'example.org/24',
  ])('rejects %j', (text) => expect(canonical(text)).toBeNull());
});

describe('canonicalMac()', () => {
  test.each(['02:00:5E:10:00:ff', '02-00-5e-10-00-FF', '0200.5e10.00ff', '02005e1000ff'])(
    'reads %s',
    (text) => expect(canonicalMac(text)).toBe('02:00:5e:10:00:ff'),
  );

  test.each([
    '',
    '02:00:5e:10:00',
    '02:00:5e:10:00:ff:01',
    '02:00-5e:10:00:ff',
    '02:00:5e:10:00:fg',
    '192.0.2.1',
  ])('rejects %j', (text) => expect(canonicalMac(text)).toBeNull());
});
