/** Distinct byte strings. */
import fc from 'fast-check';
import { describe, expect, test } from '@jest/globals';
import { ByteDictionary } from './byte-dictionary.ts';

const entry = fc.tuple(fc.uint8Array({ maxLength: 6 }), fc.nat(3));

describe('ByteDictionary', () => {
  test('finds each entry again, counts it, and keeps its bytes and tag', () => {
    const several = fc.array(fc.array(entry, { maxLength: 300 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(several, (rounds) => {
        const dictionary = new ByteDictionary();
        for (const entries of rounds) {
          dictionary.clear();
          expectSame(dictionary, entries);
        }
      }),
    );
  });

  test('grows to 65,535 entries and shrinks again', () => {
    const dictionary = new ByteDictionary();
    for (const size of [65_535, 3, 3]) {
      dictionary.clear();
      const entries = Array.from({ length: size }, (_, n): [Uint8Array, number] => [
        Buffer.from(`entry ${n}`),
        n,
      ]);
      expectSame(dictionary, entries);
    }
    expect(dictionary.tags.length).toBeLessThan(65_535);
    expect(dictionary.bytes.length).toBeLessThan(65_535);
  });
});

/** Entries may occur twice when a search has ended early, so their counts are summed. */
function expectSame(dictionary: ByteDictionary, entries: readonly (readonly [Uint8Array, number])[]): void {
  const expected = new Map<string, number>();
  for (const [bytes, tag] of entries) {
    const place = dictionary.place(bytes, 0, bytes.length, tag);
    expect(textAt(dictionary, place)).toBe(textOf(bytes, tag));
    expected.set(textOf(bytes, tag), (expected.get(textOf(bytes, tag)) ?? 0) + 1);
  }
  const found = new Map<string, number>();
  for (let place = 0; place < dictionary.size; place++) {
    const text = textAt(dictionary, place);
    found.set(text, (found.get(text) ?? 0) + dictionary.counts[place]!);
  }
  expect(found).toEqual(expected);
}

function textAt({ bytes, starts, tags }: ByteDictionary, place: number): string {
  return textOf(bytes.subarray(starts[place], starts[place + 1]), tags[place]!);
}

function textOf(bytes: Uint8Array, tag: number): string {
  return `${Buffer.from(bytes).toString('hex')} ${tag}`;
}
