import { describe, expect, test } from '@jest/globals';
import { knownListsFor } from './lists-by-purpose.ts';
import type { KnownList } from './lists-by-purpose.ts';

const list = (name: string, purpose: KnownList['purpose'], url: string): KnownList => ({
  name,
  purpose,
  url,
  kind: purpose === 'repair' ? 'allow' : 'block',
  homepage: 'https://lists.example/',
  licence: null,
  expires_hours: null,
});

const ALL = [
  list('Ads', 'ads', 'https://small.lists.example'),
  list('Malware', 'threats', 'https://lists.example/malware'),
  list('More ads', 'ads', 'https://big.lists.example'),
  list('Repairs', 'repair', 'https://lists.example/repairs'),
];

describe('knownListsFor(), the lists offered for selection,', () => {
  test('are grouped by purpose', () => {
    const names = knownListsFor(ALL, 'block', []).map(({ purpose, lists }) => [
      purpose,
      ...lists.map(({ name }) => name),
    ]);
    expect(names).toEqual([
      ['ads', 'Ads', 'More ads'],
      ['threats', 'Malware'],
    ]);
    expect(knownListsFor(ALL, 'allow', []).map(({ purpose }) => purpose)).toEqual(['repair']);
  });

  test('omit lists that were already added, even if their URLs differ in case or a final slash', () => {
    const offered = knownListsFor(ALL, 'block', ['https://SMALL.lists.example/', ALL[1]!.url]);
    expect(offered.flatMap(({ lists }) => lists.map(({ name }) => name))).toEqual(['More ads']);
  });
});
