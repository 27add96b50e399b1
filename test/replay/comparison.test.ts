import { describe, expect, test } from '@jest/globals';
import { differences, Explanations } from './comparison.ts';

const explanations = new Explanations([
  '! comment with * star',
  '@@||fine.example.com^|',
  '||ads*.example.net^',
  '||typed.example.org^$dnstype=A',
  '||prefix.',
]);

function kindsOf(
  name: string,
  observed: { blocked: number; allowed: number },
  expectedBy?: readonly string[],
): string[] {
  const expected = new Map(expectedBy === undefined ? [] : [[name, expectedBy]]);
  return differences(new Map([[name, observed]]), expected, explanations).map(({ kind }) => kind);
}

describe('differences() between expected and real results', () => {
  test('differences() is empty if everything is as expected', () => {
    expect(kindsOf('a.example.com', { blocked: 2, allowed: 0 }, ['list'])).toEqual([]);
    expect(kindsOf('a.example.com', { blocked: 0, allowed: 2 })).toEqual([]);
  });

  test.each([
    ['sub.fine.example.com', { blocked: 0, allowed: 1 }, ['list'], 'allowed by an exception (@@)'],
    ['other.example.com', { blocked: 0, allowed: 1 }, ['list'], 'allowed, unexplained'],
    [
      '192.0.2.7',
      { blocked: 0, allowed: 1 },
      ['list'],
      'allowed, because an address in a list is not a name',
    ],
    ['x.ads7.example.net', { blocked: 1, allowed: 0 }, undefined, 'blocked by a pattern'],
    ['prefix.example.com', { blocked: 1, allowed: 0 }, undefined, 'blocked by a pattern'],
    ['a.typed.example.org', { blocked: 1, allowed: 0 }, undefined, 'blocked by a rule with a modifier'],
    ['plain.example.com', { blocked: 1, allowed: 0 }, undefined, 'blocked, unexplained'],
    ['both.example.com', { blocked: 1, allowed: 1 }, ['list'], 'decided inconsistently'],
  ])(
    'differences() reports the name %s with the kind of its difference',
    (name, observed, expectedBy, kind) => {
      expect(kindsOf(name, observed, expectedBy)).toEqual([kind]);
    },
  );
});
