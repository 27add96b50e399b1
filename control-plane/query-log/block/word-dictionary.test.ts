/** Counting of distinct tuples of numbers. */
import { describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { WordDictionary } from './word-dictionary.ts';

type Tuple = [a: number, b: number, c: number, d: number, e: number];

const word = fc.constantFrom(0, 1, -1);
const tuple = fc.tuple(word, word, word, word, word);

describe('WordDictionary', () => {
  test('finds each tuple again and counts it', () => {
    const several = fc.array(fc.array(tuple, { maxLength: 300 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(several, (rounds) => {
        const dictionary = new WordDictionary();
        for (const tuples of rounds) {
          dictionary.clear();
          expectSame(dictionary, tuples);
        }
      }),
    );
  });

  test('grows to 65,535 entries, and shrinks when it is cleared and reused', () => {
    const dictionary = new WordDictionary();
    for (const size of [65_535, 3, 3]) {
      dictionary.clear();
      expectSame(
        dictionary,
        Array.from({ length: size }, (_, n): Tuple => [n, n * 7, -n, 0, 1]),
      );
    }
    expect(dictionary.words.length).toBeLessThan(65_535);
  });
});

/** A tuple may have two entries, because a search may give up, so the counts of equal entries are summed. */
function expectSame(dictionary: WordDictionary, tuples: readonly Tuple[]): void {
  const textAt = (place: number): string => [0, 1, 2, 3, 4].map((n) => dictionary.wordOf(place, n)).join();
  const expected = new Map<string, number>();
  const places = tuples.map((words) => {
    expected.set(words.join(), (expected.get(words.join()) ?? 0) + 1);
    return dictionary.place(...words);
  });
  expect(places.map(textAt)).toEqual(tuples.map((words) => words.join()));
  const found = new Map<string, number>();
  for (let place = 0; place < dictionary.size; place++) {
    found.set(textAt(place), (found.get(textAt(place)) ?? 0) + dictionary.countOf(place));
  }
  expect(found).toEqual(expected);
}
