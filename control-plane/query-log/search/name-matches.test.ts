/** Matching of names of a block, and of names in a table whose texts have no separators. */
import { describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { KeyTable } from '../top-lists/key-table.ts';
import { NameMatches } from './name-matches.ts';

const name = fc.string({ unit: fc.constantFrom('a', 'b', '.'), minLength: 0, maxLength: 5 });
const part = fc.option(fc.string({ unit: fc.constantFrom('a', 'b', 'A', '.'), minLength: 1, maxLength: 3 }), {
  nil: undefined,
});

describe('NameMatches', () => {
  test('finds the same names in texts, in a growing table, and by comparing each name', () => {
    fc.assert(
      fc.property(fc.uniqueArray(name), part, part, fc.nat(9), (names, domain, excluded, cut) => {
        const filter = { domain, not: { domain: excluded }, domainPattern: 'a*' };
        const matches = NameMatches.of(filter)!;
        const expected = names.map(
          (text) =>
            text.startsWith('a') &&
            text.includes((domain ?? '').toLowerCase()) &&
            !(excluded !== undefined && text.includes(excluded.toLowerCase())),
        );
        const texts = Buffer.from(names.map((text) => `${text}\n`).join(''));
        const starts = Uint32Array.from(
          [0, ...names].map((_, i) => names.slice(0, i).join('\n').length + (i && 1)),
        );
        expect([...matches.among(texts, starts)].map(Boolean)).toEqual(expected);
        const table = new KeyTable();
        for (const some of [names.slice(0, cut), names]) {
          const places = some.map((text) => table.place(Buffer.from(text), 0, text.length, 0));
          const found = matches.amongEntries(table, Uint32Array.from(places));
          expect([...found].map(Boolean)).toEqual(expected.slice(0, some.length));
        }
        if (expected.includes(true)) expect(matches.isWithout(texts)).toBe(false);
      }),
    );
  });

  test('discards its results for another table', () => {
    const matches = NameMatches.of({ domain: 'b' })!;
    const tables = ['ab', 'aa'].map((text) => {
      const table = new KeyTable();
      return { table, places: Uint32Array.of(table.place(Buffer.from(text), 0, 2, 0)) };
    });
    expect(tables.map(({ table, places }) => matches.amongEntries(table, places)[0])).toEqual([1, 0]);
  });

  test.each([
    ['bücher.example', [1, 0, 0, 0]],
    ['BÜCH', [1, 0, 0, 0]],
    ['xn--bcher', [1, 0, 0, 0]],
    ['испытание', [0, 1, 0, 0]],
    ['bücher.test', [0, 0, 0, 0]],
  ])('finds names by a part of their Unicode form, %s', (domain, expected) => {
    const names = [
      'www.xn--bcher-kva.example',
      'xn--80akhbyknj4f.example',
      'bucher.example',
      'xn--0.example',
    ];
    const texts = Buffer.from(names.map((text) => `${text}\n`).join(''));
    const starts = Uint32Array.from([0, 1, 2, 3, 4], (i) => names.slice(0, i).join('').length + i);
    expect([...NameMatches.of({ domain })!.among(texts, starts)]).toEqual(expected);
    const excluded = NameMatches.of({ not: { domain } })!.among(texts, starts);
    expect([...excluded]).toEqual(expected.map((matches) => 1 - matches));
  });

  test('is null if no condition applies to names', () => {
    expect(NameMatches.of({ client: '192.0.2.7', not: { type: 'A' } })).toBeNull();
  });
});
