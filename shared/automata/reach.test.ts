import { describe, expect, test } from '@jest/globals';
import { WELL_KNOWN_NAMES } from '../policy/well-known-names.ts';
import type { Automaton } from './automaton.ts';
import { compileExpression } from './expression.ts';
import { canFindName, finds, findsEveryName } from './reach.ts';

function automatonOf(pattern: string): Automaton {
  const made = compileExpression(pattern);
  if ('reason' in made) throw new Error(made.reason);
  return made.automaton;
}

describe('WELL_KNOWN_NAMES, names that a regex should not all match,', () => {
  test('has a thousand different lower-case names from many domains and of many lengths', () => {
    expect(WELL_KNOWN_NAMES).toHaveLength(1000);
    expect(new Set(WELL_KNOWN_NAMES).size).toBe(1000);
    expect(WELL_KNOWN_NAMES.filter((name) => !/^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+$/.test(name))).toEqual([]);
    expect(new Set(WELL_KNOWN_NAMES.map((name) => name.split('.').at(-1))).size).toBeGreaterThan(60);
  });
});

describe('finds(), whether a regular expression matches a name,', () => {
  test.each([
    ['^ads', 'ads.example', true],
    ['^ads', 'x.ads.example', false],
    ['\\.example$', 'ads.example', true],
    ['\\.example$', 'ads.example.org', false],
    ['^$', '', true],
    ['x', '', false],
    ['.', '\u0436', false],
    ['\\bads\\b', 'my-ads.example', true],
  ])('for %s and %j is %j', (pattern, text, found) => expect(finds(automatonOf(pattern), text)).toBe(found));
});

describe('findsEveryName(), whether an expression matches all names,', () => {
  test.each([
    ...[
      '^',
      '$',
      '^$|',
      '(|)+',
      '[x]?',
      '^^',
      '^|',
      '^||a2\\.example^',
      '.*',
      '.',
      '.+',
      '\\.',
      '\\w',
      '[a-z]',
    ],
    ...['x*', '(ads)?', '^.{5,}', '^[a-z0-9.-]+$', '^[a-z]', '[aeiouy.]', '(?:ads|)', '\\b', '^\\S', '[^/]'],
  ])('is true for %s', (pattern) => expect(findsEveryName(automatonOf(pattern))).toBe(true));

  test.each(['^ads', 'com', '\\.com$', '\\.(com|net|org)$', '^www\\.', '[0-9]', '-', '^[a-m]', '^.{3,9}$'])(
    'is false for %s',
    (pattern) => expect(findsEveryName(automatonOf(pattern))).toBe(false),
  );
});

describe('canFindName(), whether an expression can match any name,', () => {
  test.each([
    ...[
      '^ads',
      '.*',
      '^',
      'ads.example(\\/.*)?$',
      '^adv2\\.example(\\/|$)',
      '^[^a-z0-9.-]',
      '[^\\x00-\\x20]',
      '_',
    ],
    ...['\\.$|x', '^\\w+\\.\\w+$', 'ADS'],
  ])('is true for %s', (pattern) => expect(canFindName(automatonOf(pattern))).toBe(true));

  test.each([
    ...['/rj\\.example/', 'example\\/ads', '^https?:', 'рж\\.example', 'bücher', '[^\\x00-\\x7f]', '^\\.'],
    ...['\\.$', 'a\\.\\.b', '^$', 'a b', '\\n', '2001:db8', 'a^', '$a'],
  ])('is false for %s', (pattern) => expect(canFindName(automatonOf(pattern))).toBe(false));
});
