import { describe, expect, test } from '@jest/globals';
import { anchor, character, EMPTY, joined, NoEquivalent, repeated } from './tre-pieces.ts';

const A = character('a', true);
const DOT = character('\\.', false);
const STAR = { min: 0, max: null, text: '*' };
const BOUNDED = { min: -1, max: 3, text: '{0,3}' };
const START = { ...EMPTY, text: '\\b', edge: 'start' as const };
const END = { ...EMPTY, text: '\\b', edge: 'end' as const };

describe('joined()', () => {
  test('returns whether a text starts and ends with a word character, and that it is not an atom', () => {
    expect(joined([])).toBe(EMPTY);
    expect(joined([A])).toBe(A);
    expect(joined([A, DOT])).toMatchObject({
      text: 'a\\.',
      isAtom: false,
      isNullable: false,
      startsWord: true,
      endsWord: false,
    });
  });

  test('refuses a word boundary unless a word character is next to it', () => {
    expect(joined([START, A, END]).text).toBe('\\ba\\b');
    for (const pieces of [[START], [START, DOT], [DOT, END], [END, A], [START, repeated(A, STAR)]])
      expect(() => joined(pieces)).toThrow(NoEquivalent);
  });
});

describe('repeated()', () => {
  test('adds parentheses unless the text is an atom, and detects that the result may match nothing', () => {
    expect(repeated(A, STAR)).toMatchObject({ text: 'a*', isNullable: true, startsWord: false });
    expect(repeated(joined([A, DOT]), STAR).text).toBe('(?:a\\.)*');
    expect(repeated(A, { min: 1, max: 1, text: '{1}' })).toBe(A);
    expect(repeated(A, { min: 0, max: 0, text: '{0}' })).toBe(EMPTY);
  });

  test('keeps an anchor as TRE does', () => {
    const start = anchor('^');
    expect(repeated(start, STAR)).toBe(start);
    const either = { ...EMPTY, text: '(^|a)', isAtom: true, isAnchored: true };
    expect(repeated(either, STAR).text).toBe('(^|a){1,}');
    expect(() => repeated(either, BOUNDED)).toThrow(NoEquivalent);
  });
});
