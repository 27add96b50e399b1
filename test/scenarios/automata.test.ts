/** Automata compared with RE2's own engine: both must match the same expressions in the same names. */
import { describe, expect, test } from '@jest/globals';
import { RE2JS } from 're2js';
import { encodeAutomaton } from '../../control-plane/policy/compile/table/automaton-encoder.ts';
import { matchesPattern, patternExpression, readNamePattern } from '../../shared/policy/name-pattern.ts';
import { AutomatonReader } from '../../shared/snapshot/automaton-reader.ts';
import { FRESH_AUTOMATA, RememberedAutomata } from '../../shared/automata/automaton-maker.ts';
import { AutomatonPacker, type PackedAutomaton } from '../../shared/automata/automaton-packer.ts';
import { compileExpression } from '../../shared/automata/expression.ts';
import fc from '../support/parts/fast-check.ts';

/** Atoms, assertions, and combinations of them that lists use or could use. */
const atom = fc.constantFrom(
  'a',
  'b',
  '0',
  '-',
  '_',
  '\\.',
  '.',
  '[a-c]',
  '[^.]',
  '[0-9]',
  '\\d',
  '\\w',
  '\\W',
  '\\s',
  '[[:alpha:]]',
  'ab',
  'ads',
  '\\x{e9}',
  '[^a]',
  '(?:)',
  '\\-',
  '(?s:.)',
  '(?-i:A)',
  'k',
  '\\C',
);
const assertion = fc.constantFrom('^', '$', '\\b', '\\B', '\\A', '\\z', '(?m:^)', '(?m:$)');
const repeat = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{0,3}', '{2,}', '*?', '{0}', '{1,4}');
const expression = fc.letrec<{ any: string; part: string; group: string }>((tie) => ({
  part: fc.oneof(
    { weight: 5, arbitrary: fc.tuple(atom, repeat).map((both) => both.join('')) },
    { weight: 1, arbitrary: assertion },
    { weight: 2, arbitrary: fc.tuple(tie('group'), repeat).map((both) => both.join('')) },
  ),
  group: fc
    .tuple(fc.constantFrom('(', '(?:', '(?P<n>'), tie('any'))
    .map(([open, inner]) => `${open}${inner})`),
  any: fc.oneof(
    { depthSize: 'small' },
    fc.array(tie('part'), { minLength: 1, maxLength: 5 }).map((parts) => parts.join('')),
    fc.array(tie('any'), { minLength: 2, maxLength: 3 }).map((parts) => parts.join('|')),
  ),
})).any;
const name = fc
  .array(fc.constantFrom(...Array.from('aabbcdks01-_.. \n\u00e9\u00ff')), { maxLength: 14 })
  .map((letters) => letters.join(''));

function matches(pattern: string, text: string): boolean {
  return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE).matcher(text).find();
}

/** Indexes of the patterns that these automata find in `text`. */
function found(automata: readonly Pick<PackedAutomaton, 'automaton' | 'rules'>[], text: string): number[] {
  const octets = Buffer.from(text, 'latin1');
  const numbers: number[] = [];
  for (const packed of automata) {
    const words = encodeAutomaton({ ...packed, source: 0 }, (rule) => rule);
    const buffer = new SharedArrayBuffer(words.byteLength);
    new Int32Array(buffer).set(words);
    const reader = new AutomatonReader(buffer);
    const mask = reader.find(0, octets, octets.length);
    for (let bit = 0; bit < packed.rules.length; bit++)
      if ((mask >>> bit) & 1) numbers.push(reader.ruleAt(0, bit));
  }
  return numbers.sort((a, b) => a - b);
}

const SPACE = { automata: 1000, entries: 1_000_000 };

describe('compileExpression(), which compiles a regular expression,', () => {
  test('finds the same matches as RE2 for random expressions and names', () => {
    fc.assert(
      fc.property(expression, fc.array(name, { minLength: 1, maxLength: 12 }), (pattern, names) => {
        const made = compileExpression(pattern);
        if (!('automaton' in made)) {
          // A few expressions exceed the limits; every other expression that RE2 accepts must be accepted.
          if (!/ states: |too long to compile|repetitions multiply/.test(made.reason))
            expect(() => RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE)).toThrow();
          return;
        }
        const automata = [{ automaton: made.automaton, rules: [0] }];
        for (const text of names)
          expect({ pattern, text, found: found(automata, text).length > 0 }).toEqual({
            pattern,
            text,
            found: matches(pattern, text),
          });
      }),
      { numRuns: 1500 },
    );
  });

  test.each([
    ['(?:.?.?.?.?.?){999}_0$', 'x'.repeat(251) + '_0', 'x_0y'],
    ['^[a-z.-]{0,480}7.0$', 'abc.def7x0', 'abc.def7x00'],
    ['^[a-z]{250}7', `${'z'.repeat(250)}7`, `${'z'.repeat(249)}7`],
    ['[0-9][a-z0-9]{8}x', 'aa1bcdefghix', 'aa1bcdefgix'],
    ['(?:a?){1000}b$', 'aaab', 'aaa'],
  ])('accepts %s, and finds the expected matches', (pattern, hit, miss) => {
    const made = compileExpression(pattern);
    expect(made).not.toHaveProperty('reason');
    if (!('automaton' in made)) return;
    const automata = [{ automaton: made.automaton, rules: [0] }];
    expect([hit, miss].map((text) => found(automata, text))).toEqual([[0], []]);
  });

  test.each([
    ['[0-9][a-z0-9]{40}x', /an automaton of more than \d+ states/],
    ['(?:[a-z]?[a-z]?[a-z]?[a-z]?[a-z]?[a-z]?[a-z]?[a-z]?[a-z]?[a-z]?[a-z]?[a-z]?){900}', /too large/],
    ['(?=a)b', /invalid/],
    ['(a)\\1', /invalid/],
    ['', /empty/],
  ])('rejects %s with a reason', (pattern, reason) => {
    expect(compileExpression(pattern)).toMatchObject({ reason: expect.stringMatching(reason) });
  });

  test('compiles hostile expressions within the work limit', () => {
    const hostile = [
      '(?:[a-z]?){480}[0-9]{3}(?:[a-z]?){480}$',
      '(?:(?:a|b)?.?){400}c.{200}d',
      '(.{0,30}.{0,30}){9}x',
    ];
    for (const pattern of hostile) expect(compileExpression(pattern).work).toBeLessThan(1_500_000);
  });
});

describe('patternExpression(), the regex of a wildcard pattern,', () => {
  test('matches the same names as the wildcard pattern', () => {
    const piece = fc.array(fc.constantFrom('a', 'b', '.', '-', '*'), { minLength: 1, maxLength: 7 });
    const pattern = fc
      .tuple(fc.constantFrom('', '|', '||', '://'), piece, fc.constantFrom('', '^', '|', '*', '^*'))
      .map(([start, letters, end]) => start + letters.join('') + end);
    fc.assert(
      fc.property(pattern, name, (text, asked) => {
        const read = readNamePattern(text);
        if (typeof read === 'string') return;
        const expected = matchesPattern(read, asked);
        expect({ text, asked, matches: matches(patternExpression(read), asked) }).toEqual({
          text,
          asked,
          matches: expected,
        });
      }),
      { numRuns: 2000 },
    );
  });
});

describe('AutomatonPacker, which combines regular expressions in one automaton,', () => {
  const packed = (patterns: readonly string[], maker = FRESH_AUTOMATA): AutomatonPacker => {
    const packer = new AutomatonPacker([{ ...SPACE }], maker);
    for (const [number, pattern] of patterns.entries()) {
      const made = maker.compile(pattern);
      if ('automaton' in made) packer.add(made.automaton, number);
    }
    return packer;
  };

  test('finds in one pass the matches of every single expression', () => {
    const patterns = fc.array(expression, { minLength: 2, maxLength: 40 });
    const remembered = new RememberedAutomata();
    fc.assert(
      fc.property(patterns, fc.array(name, { minLength: 1, maxLength: 6 }), (all, names) => {
        const readable = all.filter((pattern) => 'automaton' in compileExpression(pattern));
        const { automata } = packed(readable);
        remembered.beginRound();
        const again = packed(readable, remembered).automata;
        for (const text of names) {
          const expected = [...readable.keys()].filter((number) => matches(readable[number]!, text));
          expect({ readable, text, found: found(automata, text) }).toEqual({
            readable,
            text,
            found: expected,
          });
          expect(found(again, text)).toEqual(expected);
        }
      }),
      { numRuns: 150 },
    );
  });

  test('packs 1,000 similar expressions into fewer than 40 automata', () => {
    const counted = Array.from(
      { length: 1000 },
      (_, at) => `^[a-z]{${1 + (at % 40)}}[0-9]{${1 + Math.floor(at / 40)}}\\.`,
    );
    const floating = Array.from(
      { length: 1000 },
      (_, at) => `[a-z]{${1 + (at % 30)}}[0-9]{${1 + Math.floor(at / 30)}}[.-]`,
    );
    expect(packed(counted).automata.length).toBeLessThan(40);
    expect(packed(floating).automata.length).toBeLessThan(40);
  });

  test('rejects automata and entries beyond its capacity', () => {
    const own = { automata: 5, entries: 1_000_000 };
    const all = { automata: 1000, entries: 20_000 };
    const packer = new AutomatonPacker([own, all], FRESH_AUTOMATA);
    const taken = Array.from({ length: 200 }, (_, at) => {
      const letter = String.fromCharCode(97 + (at % 26));
      const made = compileExpression(`[${letter}-z][a-z0-9.-]{${4 + (at % 4)}}${letter}`);
      return 'automaton' in made && packer.add(made.automaton, at);
    });
    expect(taken).toContain(false);
    expect(packer.automata.length).toBeLessThanOrEqual(5);
    expect(own.automata).toBeGreaterThanOrEqual(0);
    expect(all.entries).toBeGreaterThanOrEqual(0);
    expect(packer.automata.flatMap(({ rules }) => rules)).toEqual(
      expect.arrayContaining([...taken.keys()].filter((at) => taken[at])),
    );
  });
});
