import { describe, expect, test } from '@jest/globals';
import { compileExpression } from '../../../../../shared/automata/expression.ts';
import { finds } from '../../../../../shared/automata/reach.ts';
import { fromTre, wildcardName } from './tre-pattern.ts';

/** The names that the rewritten pattern matches, or why there is no pattern. */
function matched(pattern: string, names: readonly string[]): readonly string[] | string {
  const read = fromTre(pattern);
  if ('reason' in read) return read.reason;
  const compiled = compileExpression(read.pattern);
  if ('reason' in compiled) return compiled.reason;
  return names.filter((name) => finds(compiled.automaton, name));
}

describe('fromTre()', () => {
  test.each([
    ['^ads?[0-9]*\\.', '^ads?[0-9]*\\.'],
    ['^(.+[_.-])?adse?rv(er?|ice)?s?[0-9]*[_.-]', '^(.+[_.-])?adse?rv(er?|ice)?s?[0-9]*[_.-]'],
    ['a{,3}b{2}c{1,}', 'a{0,4}b{2}c{1,}'],
    ['[\\.]', '[\\\\.]'],
    ['[]a]', '[\\]a]'],
    ['[^]a]', '[^\\]a]'],
    ['[[:alpha:]_-]+', '[[:alpha:]_-]+'],
    ['[\\-_]', '[\\\\-_]'],
    ['x\\dy', 'x\\dy'],
    ['a{,}b', 'ab'],
    ['^*ads', '^ads'],
    ['*ads', 'ads'],
    ['+ads', 'ads'],
    ['?ads', 'ads'],
    ['x{1}{2}', 'x{2}'],
    ['x{2}{3}', '(?:x{2}){3}'],
    ['(?n)ads', 'ads'],
    ['x(?n)a|b', 'x(?:a|b)'],
    ['a(?#why)b', 'ab'],
    ['(?i:a|b)c', '(?:a|b)c'],
    ['\\<ads\\>', '\\bads\\b'],
    ['a)b', 'a\\)b'],
    ['\\Qa.b*\\E+c', 'a\\.b\\*c'],
    ['\\zone', 'zone'],
    ['\\x2e', '\\x{2e}'],
    ['(^|\\.)?ads', '(^|\\.)ads'],
    ['a{0}b', 'b'],
  ])('writes %s as %s', (pattern, written) => {
    expect(fromTre(pattern)).toEqual({ pattern: written });
  });

  test.each([
    // Results of TRE in Pi-hole FTL 6.
    ['^*ads', ['ads.example'], ['my-ads.example']],
    ['a{,}b', ['xab'], ['b', 'acb']],
    ['xa{,2}b', ['xb', 'xaaab'], ['xaaaab']],
    ['(^|\\.)?b$', ['b', 'x.b'], ['xb']],
    ['\\<ads', ['ads', 'x-ads'], ['xads']],
    ['\\b-', ['-a'], []],
    ['[\\.]x', ['.x'], ['ax']],
  ])('converts %s to a pattern that matches the same names as TRE', (pattern, found, others) => {
    expect(matched(pattern, [...found, ...others])).toEqual(found);
  });

  test.each([
    '{ads',
    'a{',
    'a{256}',
    'a{2,1}',
    '(?P<n>ads)',
    'a**',
    '(a',
    '[a',
    '[b-a]',
    '[[.a.]]',
    '[[=a=]]',
    '[[:word:]]',
    'a\\',
  ])('reports %s as refused by Pi-hole', (pattern) => {
    expect(fromTre(pattern)).toMatchObject({ reason: expect.stringContaining('not active in Pi-hole') });
  });

  test.each(['(a)\\1', '\\<.a', 'a?\\>', 'a{~1}', 'a{#2}', '\\B.ads', '(^|$)a', '((?i)a)'])(
    'has no equivalent for %s',
    (pattern) => {
      expect(fromTre(pattern)).toMatchObject({
        reason: expect.not.stringContaining('not active in Pi-hole'),
      });
    },
  );
});

describe('wildcardName()', () => {
  test('returns the name in a wildcard pattern, and null for other patterns', () => {
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
