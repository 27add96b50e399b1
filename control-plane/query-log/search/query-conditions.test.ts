/** Conditions that are tested without a block; `block-filter.test.ts` tests all others. */
import { describe, expect, test } from '@jest/globals';
import { rcodeName } from '../../../shared/dns/iana.ts';
import type { HeadOutcome } from '../block/block-layout.ts';
import { matchesWildcards, outcomeTest, rcodeFromName } from './query-conditions.ts';

describe('matchesWildcards()', () => {
  test.each([
    ['ads.example', 'ads.example', true],
    ['ads.example', 'ADS.Example', true],
    ['ads', 'ads.example', false],
    ['*', '', true],
    ['ads*', 'ads.example', true],
    ['*.example', 'ads.example', true],
    ['a*.*e', 'ads.example', true],
    ['a**e', 'ae', true],
    ['aa*aa', 'aaa', false],
    ['*x*', 'ads.eample', false],
    ['a.c', 'abc', false],
  ])('for the pattern %j and the text %j is %s', (pattern, text, expected) => {
    expect(matchesWildcards(pattern)(text)).toBe(expected);
  });

  test('needs linear time for a pattern with many wildcards', () => {
    expect(matchesWildcards('*a'.repeat(2000))('a'.repeat(1999))).toBe(false);
  });
});

describe('outcomeTest()', () => {
  const isBy = (upstream: string, server: string | null): boolean =>
    outcomeTest({ upstream })!([1, 'ALLOWED', 0, 'udp', 'insecure', false, server] as unknown as HeadOutcome);

  test.each([
    ['127.0.0.1:53', 'udp://127.0.0.1:53', true],
    ['127.0.0.1', 'udp://127.0.0.1:53', true],
    ['udp://127.0.0.1', '127.0.0.1:53', true],
    ['TLS://DNS.example.org', 'tls://dns.example.org:853', true],
    ['[2001:DB8::1]', 'udp://[2001:db8:0::1]:53', true],
    ['127.0.0.1:5353', 'udp://127.0.0.1:53', false],
    ['127.0.0.1', 'tcp://127.0.0.1:53', false],
    ['https://dns.example.org/a', 'https://dns.example.org/b', false],
    ['a text that is not a server', 'a text that is not a server', true],
    ['127.0.0.1', null, false],
  ])('of the filter %j and the upstream %j is %s', (wanted, server, expected) => {
    expect(isBy(wanted, server)).toBe(expected);
  });
});

describe('rcodeFromName()', () => {
  test('reads names written by rcodeName(), in any letter case', () => {
    for (const code of [0, 3, 5, 12, 16, 23, 4095])
      expect(rcodeFromName(rcodeName(code).toLowerCase())).toBe(code);
  });

  test.each(['', 'NONSENSE', 'RCODE', 'RCODE12345', 'RCODE1x', 'xRCODE1', 'toString'])(
    'returns no code for %j',
    (name) => expect(rcodeFromName(name)).toBeNull(),
  );
});
