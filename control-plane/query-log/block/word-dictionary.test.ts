/** Distinct tuples of numbers. */
import fc from 'fast-check';
import { describe, expect, test } from '@jest/globals';
import { WordDictionary } from './word-dictionary.ts';

const tuple = fc.tuple(fc.nat(3), fc.constantFrom(0, 1, 0xffff_ffff));

describe('WordDictionary', () => {
  test('finds each tuple again and counts it', () => {
    const several = fc.array(fc.array(tuple, { maxLength: 300 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(several, (rounds) => {
        const dictionary = new WordDictionary(2);
        for (const tuples of rounds) {
          dictionary.clear();
          expectSame(dictionary, tuples);
        }
      }),
    );
  });

  test('grows to 65,535 entries and shrinks again', () => {
    const dictionary = new WordDictionary(2);
    for (const size of [65_535, 3, 3]) {
      dictionary.clear();
      expectSame(
        dictionary,
        Array.from({ length: size }, (_, n): [number, number] => [n, n * 7]),
      );
    }
    expect(dictionary.counts.length).toBeLessThan(65_535);
  });
});

/** Entries may occur twice when a search has ended early, so their counts are summed. */
function expectSame(dictionary: WordDictionary, tuples: readonly (readonly number[])[]): void {
  const textAt = (place: number): string => dictionary.words.slice(place * 2, place * 2 + 2).join();
  const expected = new Map<string, number>();
  const places = tuples.map((words) => {
    dictionary.key.set(words);
    expected.set(words.join(), (expected.get(words.join()) ?? 0) + 1);
    return dictionary.place();
  });
  expect(places.map(textAt)).toEqual(tuples.map((words) => words.join()));
  const found = new Map<string, number>();
  for (let place = 0; place < dictionary.size; place++) {
    found.set(textAt(place), (found.get(textAt(place)) ?? 0) + dictionary.counts[place]!);
  }
  expect(found).toEqual(expected);
}
