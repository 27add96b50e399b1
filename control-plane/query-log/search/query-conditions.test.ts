/** Conditions that are tested without a block; `block-filter.test.ts` applies the others. */
import { describe, expect, test } from '@jest/globals';
import { rcodeName } from '../../../shared/dns/iana.ts';
import { matchesWildcards, rcodeFromName } from './query-conditions.ts';

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
  ])('matchesWildcards() compares %j with %j: %s', (pattern, text, expected) => {
    expect(matchesWildcards(pattern)(text)).toBe(expected);
  });

  test('matchesWildcards() stays linear in a pattern of many wildcards', () => {
    expect(matchesWildcards('*a'.repeat(2000))('a'.repeat(1999))).toBe(false);
  });
});

describe('rcodeFromName()', () => {
  test('reads what rcodeName() says, in any case', () => {
    for (const code of [0, 3, 5, 12, 16, 23, 4095])
      expect(rcodeFromName(rcodeName(code).toLowerCase())).toBe(code);
  });

  test.each(['', 'NONSENSE', 'RCODE', 'RCODE12345', 'RCODE1x', 'xRCODE1', 'toString'])(
    'knows no code of %j',
    (name) => expect(rcodeFromName(name)).toBeNull(),
  );
});
