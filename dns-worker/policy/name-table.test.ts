import { describe, expect, test } from '@jest/globals';
import { nameFromText } from '../../shared/dns/name.ts';
import { openLists, queryFor } from '../../test/support/parts/test-lists.ts';
import { NameTable, NOT_FOUND } from './name-table.ts';

const snapshot = openLists([]);
const { seedLow, seedHigh } = snapshot.rules;

function tableOf(...names: string[]): NameTable {
  const entries = names.map((name, number) => ({ name: nameFromText(name)!, number }));
  return new NameTable(entries, seedLow, seedHigh);
}

describe('NameTable.findSuffix(), the longest matching domain,', () => {
  const table = tableOf('example.org', 'a.b.example.org', 'example.net', 'a.b.example.org');

  test.each([
    ['example.org', 0],
    ['x.example.org', 0],
    ['b.example.org', 0],
    ['a.b.example.org', 1],
    ['y.x.a.b.example.org', 1],
    ['www.example.net', 2],
    ['notexample.org', NOT_FOUND],
    ['org', NOT_FOUND],
    ['.', NOT_FOUND],
  ])('returns the longest entry that matches %s', (name, number) => {
    expect(table.findSuffix(queryFor(name, snapshot))).toBe(number);
  });

  test.each([
    ['example.org', NOT_FOUND],
    ['x.example.org', 0],
    ['a.b.example.org', 0],
    ['x.a.b.example.org', 1],
    ['.', NOT_FOUND],
  ])('returns the longest entry above %s if the first label is skipped', (name, number) => {
    expect(table.findSuffix(queryFor(name, snapshot), 1)).toBe(number);
  });

  test('returns nothing from an empty table', () => {
    expect(tableOf().findSuffix(queryFor('example.org', snapshot))).toBe(NOT_FOUND);
  });

  test('finds each of a thousand names', () => {
    const names = Array.from({ length: 1000 }, (_, i) => `n${i}.example`);
    const many = tableOf(...names);
    expect(names.map((name) => many.findSuffix(queryFor(`w.${name}`, snapshot)))).toEqual(
      names.map((_, i) => i),
    );
  });
});
