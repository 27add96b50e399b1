import { describe, expect, test } from '@jest/globals';
import { RE2JS } from 're2js';
import fc from '../../test/support/parts/fast-check.ts';
import {
  type NamePattern,
  longestPiece,
  matchesPattern,
  patternExpression,
  readNamePattern,
} from './name-pattern.ts';

function patternOf(text: string): NamePattern {
  const pattern = readNamePattern(text);
  if (typeof pattern === 'string') throw new Error(pattern);
  return pattern;
}

describe('readNamePattern(), which parses a wildcard pattern,', () => {
  test.each([
    ['ads.', { start: 0, end: false, pieces: ['ads.'] }],
    ['|ads.', { start: 1, end: false, pieces: ['ads.'] }],
    ['||ads.', { start: 2, end: false, pieces: ['ads.'] }],
    ['://ads.', { start: 1, end: false, pieces: ['ads.'] }],
    ['|http://ads.', { start: 1, end: false, pieces: ['ads.'] }],
    ['https://ads.', { start: 1, end: false, pieces: ['ads.'] }],
    ['ads^', { start: 0, end: true, pieces: ['ads'] }],
    ['ads|', { start: 0, end: true, pieces: ['ads'] }],
    ['ads^|', { start: 0, end: true, pieces: ['ads'] }],
    ['ads^*', { start: 0, end: true, pieces: ['ads'] }],
    ['ads*', { start: 0, end: false, pieces: ['ads', ''] }],
    ['ads***', { start: 0, end: false, pieces: ['ads', ''] }],
    ['*ads**x', { start: 0, end: false, pieces: ['', 'ads', 'x'] }],
    ['a*b', { start: 0, end: false, pieces: ['a', 'b'] }],
    ['||*^', { start: 2, end: true, pieces: ['', ''] }],
    ['||a*b-c^', { start: 2, end: true, pieces: ['a', 'b-c'] }],
  ])('reads %s', (text, pattern) => {
    expect(readNamePattern(text)).toEqual(pattern);
  });

  test.each([
    ['ads^x', 'an anchor inside a pattern: no name can match'],
    ['ads^**', 'an anchor inside a pattern: no name can match'],
    ['ads/x', 'a pattern with characters that no name contains'],
  ])('rejects %s: %s', (text, reason) => {
    expect(readNamePattern(text)).toBe(reason);
  });
});

describe('longestPiece(), the longest literal of a pattern,', () => {
  test('is the first of several pieces with the maximum length', () => {
    expect(['a*bcd*efg*h', 'abc', '*abc'].map((text) => longestPiece(patternOf(text)))).toEqual([
      'bcd',
      'abc',
      'abc',
    ]);
  });
});

describe('matchesPattern(), whether a name matches a pattern,', () => {
  test.each<[string, string[], string[]]>([
    ['ads', ['ads', 'xads.y', 'a.b.adsx'], ['ad.s', 'a']],
    ['|ads', ['ads', 'adsx.y'], ['x.ads', 'xads']],
    ['||ads', ['ads', 'x.ads', 'xads.ads', 'x.adsy'], ['xads', 'xads.y']],
    ['ads^', ['ads', 'xads', 'ads.ads'], ['adsx', 'ads.x']],
    ['|ads^', ['ads'], ['x.ads', 'adsx', 'ads.ads']],
    ['||ads^', ['ads', 'x.ads', 'ads.ads'], ['xads', 'adsx', 'ads.x']],
    ['ads*x', ['adsx', 'ads.yx.z'], ['xads', 'ads']],
    ['ads*x^', ['adsx', 'adsx.yx'], ['adsxy', 'xads']],
    ['abc*bcd^', ['abcbcd', 'abc.bcd'], ['abcd']],
    ['abc*cd*de', ['abccdde'], ['abcde', 'abccde']],
  ])('is right for the pattern %s', (text, yes, no) => {
    const pattern = patternOf(text);
    expect(yes.filter((name) => !matchesPattern(pattern, name))).toEqual([]);
    expect(no.filter((name) => matchesPattern(pattern, name))).toEqual([]);
  });
});

describe('patternExpression(), the regular expression of a pattern,', () => {
  test('matches the same names as matchesPattern()', () => {
    const start = fc.constantFrom('', '|', '||', '://');
    const body = fc.array(fc.constantFrom('a', 'b', '.', '*', 'a*'), { minLength: 3, maxLength: 6 });
    const end = fc.constantFrom('', '^', '|', '*', '^*');
    const text = fc.tuple(start, body, end).map(([before, parts, after]) => before + parts.join('') + after);
    const name = fc
      .array(fc.constantFrom('a', 'b', '.'), { minLength: 4, maxLength: 14 })
      .map((all) => all.join(''));
    let matches = 0;
    fc.assert(
      fc.property(text, fc.array(name, { minLength: 8, maxLength: 8 }), (written, names) => {
        const pattern = readNamePattern(written);
        if (typeof pattern === 'string') return;
        const expression = RE2JS.compile(patternExpression(pattern));
        for (const one of names) {
          const isMatch = matchesPattern(pattern, one);
          expect([written, one, isMatch]).toEqual([written, one, expression.matcher(one).find()]);
          if (isMatch) matches++;
        }
      }),
      { numRuns: 500, seed: 3 },
    );
    expect(matches).toBeGreaterThan(100);
  });
});
