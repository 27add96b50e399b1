import { describe, expect, test } from '@jest/globals';
import { resolverOf } from './resolver-lookups.ts';

describe('resolverOf()', () => {
  test.each([
    ['dns.google', 'dns.google'],
    ['abc123.DNS.nextdns.io', 'dns.nextdns.io'],
    ['mozilla.cloudflare-dns.com', 'cloudflare-dns.com'],
    ['one.one.one.one', 'one.one.one.one'],
  ])('recognizes the encrypted resolver %s', (name, resolver) => expect(resolverOf(name)).toBe(resolver));

  test.each(['www.google', 'nextdns.io', 'xdns.google', 'one.one', 'com', '.', ''])(
    'returns null for %j',
    (name) => expect(resolverOf(name)).toBeNull(),
  );
});
