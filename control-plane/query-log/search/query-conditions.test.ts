/** Conditions that are tested without a block; `block-filter.test.ts` applies the others. */
import { describe, expect, test } from '@jest/globals';
import { matchesWildcards } from './query-conditions.ts';

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
