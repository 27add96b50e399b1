/** Counting of distinct byte strings. */
import { describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { ByteDictionary, Entry, FIRST_ENTRY, NOTES } from './byte-dictionary.ts';
import { viewed } from './viewed-bytes.ts';

/** A byte string within a larger buffer, and a tag. */
const entry = fc.tuple(fc.uint8Array({ maxLength: 6 }), fc.nat(3), fc.nat(4));

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

  test('grows to 65,535 entries, and shrinks when it is cleared and reused', () => {
    const dictionary = new ByteDictionary();
    for (const size of [65_535, 3, 3]) {
      dictionary.clear();
      const entries = Array.from({ length: size }, (_, n): [Uint8Array, number, number] => [
        Buffer.from(`entry ${n}`),
        n,
        n % 3,
      ]);
      expectSame(dictionary, entries);
    }
    expect(dictionary.bytes.length).toBeLessThan(65_535);
  });

  test('keeps the counters of an entry, whatever is added later', () => {
    const dictionary = new ByteDictionary();
    const places = Array.from({ length: 5000 }, (_, n) => {
      const bytes = Buffer.from(`${n}`);
      const place = dictionary.find(viewed(bytes), 0, bytes.length, 0);
      for (let note = 0; note < NOTES; note++)
        dictionary.words[place + Entry.NOTE + note]! += n * NOTES + note;
      return place;
    });
    expect(places.flatMap((place) => notesAt(dictionary, place))).toEqual(
      Array.from({ length: 5000 * NOTES }, (_, n) => n),
    );
  });
});

function notesAt({ words }: ByteDictionary, place: number): number[] {
  return [...words.subarray(place + Entry.NOTE, place + Entry.NOTE + NOTES)];
}

/** A string may have two entries, because a search may give up, so the counts of equal entries are summed. */
function expectSame(
  dictionary: ByteDictionary,
  entries: readonly (readonly [Uint8Array, number, number])[],
): void {
  const expected = new Map<string, number>();
  const places = entries.map(([bytes, tag, before]) => {
    const source = Buffer.concat([Buffer.alloc(before, 1), bytes, Buffer.from([2])]);
    expected.set(textOf(bytes, tag), (expected.get(textOf(bytes, tag)) ?? 0) + 1);
    return dictionary.find(viewed(source), before, bytes.length, tag);
  });
  const texts = places.map((place) => textAt(dictionary, place));
  expect(texts).toEqual(entries.map(([bytes, tag]) => textOf(bytes, tag)));
  const found = new Map<string, number>();
  const counts = dictionary.column(Entry.COUNT);
  expect([...dictionary.column(Entry.PLACE)]).toEqual(Array.from(counts, (_, n) => n));
  let byteCount = 0;
  for (let n = 0, place = FIRST_ENTRY; n < dictionary.size; n++, place = dictionary.after(place)) {
    byteCount += dictionary.words[place + Entry.LENGTH]!;
    const text = textAt(dictionary, place);
    found.set(text, (found.get(text) ?? 0) + counts[n]!);
  }
  expect(found).toEqual(expected);
  expect(dictionary.byteCount).toBe(byteCount);
}

function textAt({ words, bytes }: ByteDictionary, place: number): string {
  const at = (place + Entry.BYTES) * 4;
  return textOf(bytes.subarray(at, at + words[place + Entry.LENGTH]!), words[place + Entry.TAG]!);
}

function textOf(bytes: Uint8Array, tag: number): string {
  return `${Buffer.from(bytes).toString('hex')} ${tag}`;
}
