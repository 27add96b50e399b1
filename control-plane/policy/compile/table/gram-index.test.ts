import { describe, expect, test } from '@jest/globals';
import { gramAt } from '../../../../shared/snapshot/special-matcher.ts';
import { GramIndex } from './gram-index.ts';

/** Offset of the chosen gram in each literal; null if the index has no space. */
function offsets(index: GramIndex, ...literals: string[]): number[] | null {
  return index.placeOf(literals)?.map(({ gramOffset }) => gramOffset) ?? null;
}

/** Adds this number of rules for one gram. */
function crowd(index: GramIndex, letters: string, rules: number): void {
  const literal = Buffer.from(letters);
  for (let i = 0; i < rules; i++) index.take([{ gram: gramAt(literal, 0), gramOffset: 0, literal }]);
}

describe('GramIndex.placeOf()', () => {
  test('indexes each literal by three of its letters', () => {
    const places = new GramIndex().placeOf(['track', 'xads']);
    expect(places).toEqual([
      { gram: gramAt(Buffer.from('tra'), 0), gramOffset: 0, literal: Buffer.from('track') },
      { gram: gramAt(Buffer.from('xad'), 0), gramOffset: 0, literal: Buffer.from('xads') },
    ]);
  });

  test('returns null for patterns without literals, or with a literal of two letters', () => {
    const index = new GramIndex();
    expect([index.placeOf(null), offsets(index, 'track', 'ab')]).toEqual([null, null]);
    expect(offsets(index, 'abc')).toEqual([0]);
  });

  test('chooses the three letters with the fewest rules, and the first three if several have equally few', () => {
    const index = new GramIndex();
    crowd(index, 'abc', 1);
    expect(offsets(index, 'abcdef')).toEqual([1]);
    crowd(index, 'bcd', 2);
    crowd(index, 'cde', 2);
    crowd(index, 'def', 2);
    expect(offsets(index, 'abcdef')).toEqual([0]);
  });

  test('avoids three letters that many names contain, unless the literal has no others', () => {
    const index = new GramIndex();
    expect(offsets(index, 'www.ads', 'shop.com')).toEqual([2, 0]);
    for (const letters of ['w.a', '.ad']) crowd(index, letters, 15);
    crowd(index, 'ads', 14);
    expect(offsets(index, 'www.ads')).toEqual([4]);
    expect(offsets(index, 'com')).toEqual([0]);
  });

  test('returns null if the three letters already have sixteen rules', () => {
    const index = new GramIndex();
    crowd(index, 'abc', 15);
    expect(offsets(index, 'abc')).toEqual([0]);
    crowd(index, 'abc', 1);
    expect(offsets(index, 'abc')).toBeNull();
    crowd(index, 'com', 16);
    expect(offsets(index, 'com')).toBeNull();
  });
});
