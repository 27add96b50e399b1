import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestAuthority } from '../../test/support/dns/certificates.ts';
import { clientKeyIn } from './client-key-in.ts';

let authority: TestAuthority;
let exact: X509Certificate;
let wildcard: X509Certificate;
let address: X509Certificate;
beforeAll(() => {
  authority = new TestAuthority();
  const issue = (names: string): X509Certificate => new X509Certificate(authority.issue(names).cert);
  exact = issue('DNS:dns.example.org,DNS:phone.dns.example.org,IP:192.0.2.1');
  wildcard = issue('DNS:tv.dns.example.org,DNS:*.dns.example.org');
  address = issue('IP:192.0.2.1');
});
afterAll(() => authority.close());

describe('clientKeyIn()', () => {
  test.each([
    ['phone.dns.example.org', 'phone'],
    ['other.dns.example.org', 'other'],
    ['PHONE.DNS.example.ORG', 'phone'],
    [`${'k'.repeat(63)}.dns.example.org`, 'k'.repeat(63)],
  ])('reads the first label of %s, be the rest in the certificate or below its wildcard', (name, key) => {
    expect([clientKeyIn(name, exact), clientKeyIn(name, wildcard)]).toEqual([key, key]);
  });

  test('reads a key that a name of the certificate has, too', () => {
    expect(clientKeyIn('tv.dns.example.org', wildcard)).toBe('tv');
  });

  test.each([
    'dns.example.org',
    'phone.example.org',
    'phone.dns.example.net',
    'a.phone.dns.example.org.evil.example',
    'a.b.c.dns.example.org',
    '',
    '.',
    '.dns.example.org',
    'dns',
    'phone.dns.example.org.',
    'phone..dns.example.org',
    '-phone.dns.example.org',
    'pho_ne.dns.example.org',
    'phöne.dns.example.org',
    '*.dns.example.org',
    'phone.*',
    'phone.192.0.2.1',
    '192.0.2.1',
    '2001:db8::1',
    'phone.dns.example.org\0.evil.example',
    `${'k'.repeat(64)}.dns.example.org`,
    `phone.${'dns.example.org.'.repeat(4000)}`,
  ])('finds none in %j', (name) => {
    expect([exact, wildcard, address, null].map((certificate) => clientKeyIn(name, certificate))).toEqual([
      ...['', '', '', ''],
    ]);
  });
});
