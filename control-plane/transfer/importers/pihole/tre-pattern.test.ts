import { describe, expect, test } from '@jest/globals';
import { fromTre, wildcardName } from './tre-pattern.ts';

describe('fromTre()', () => {
  test.each([
    ['^ads?[0-9]*\\.', '^ads?[0-9]*\\.'],
    ['a{,3}b{2}c{1,}', 'a{0,3}b{2}c{1,}'],
    ['[\\.]', '[\\\\.]'],
    ['[]a]', '[\\]a]'],
    ['[^]a]', '[^\\]a]'],
    ['[[:alpha:]_-]+', '[[:alpha:]_-]+'],
    ['x\\dy', 'x\\dy'],
  ])('writes %s as %s', (pattern, written) => {
    expect(fromTre(pattern)).toEqual({ pattern: written });
  });

  test.each(['(a)\\1', '\\<a', 'a\\>', 'a{~1}', 'a{#2}', '[a', '[[.a.]]', '[[=a=]]'])(
    'has nothing for %s',
    (pattern) => {
      expect(fromTre(pattern)).toMatchObject({ reason: expect.any(String) });
    },
  );
});

describe('wildcardName()', () => {
  test('finds the name behind the pattern of a wildcard, and none in others', () => {
    const patterns = [
      '(\\.|^)a\\.example$',
      '(\\.|^)a.example$',
      '(^|\\.)a\\.example$',
      '(\\.|^)a\\.$',
      'a\\.example$',
    ];
    expect(patterns.map(wildcardName)).toEqual(['a.example', null, null, null, null]);
  });
});
