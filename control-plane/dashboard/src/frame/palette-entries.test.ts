import { describe, expect, test } from '@jest/globals';
import type { Client } from '../../../../shared/api/policy/clients-api.ts';
import {
  clientEntries,
  foundEntries,
  hasWords,
  matchingEntries,
  MAX_FOUND,
  nameIn,
} from './palette-entries.ts';
import type { PaletteEntry } from './palette-entries.ts';

function entry(text: string): PaletteEntry {
  return { id: text, text, kind: 'page', run: () => undefined };
}

describe('matchingEntries(), the entries of the search dialog,', () => {
  const entries = [entry('Queries'), entry('Pause blocking for 5 min'), entry('Local names')];

  test.each([
    ['', ['Queries', 'Pause blocking for 5 min', 'Local names']],
    ['qu', ['Queries']],
    ['5 pause', ['Pause blocking for 5 min']],
    ['NAMES', ['Local names']],
    ['ames', []],
  ])('finds entries by the first letters of their words: %p', (text, found) => {
    expect(matchingEntries(entries, text).map((one) => one.text)).toEqual(found);
  });
});

describe('clientEntries(), the clients found by the search dialog,', () => {
  const client: Client = {
    id: 7,
    ip_address: '192.0.2.7',
    mac_address: null,
    vendor: null,
    private_address: false,
    client_key: null,
    hostname: 'tv.home.arpa',
    name: null,
    group_id: 1,
    group_source: 'default',
    first_seen: null,
    last_seen: null,
    query_count: 0,
    exclude_from_log: false,
    exclude_from_stats: false,
    is_new: false,
    merged_into: null,
    merged: [],
  };

  test('shows the name of a client before the address', () => {
    expect(clientEntries([client], () => undefined)[0]?.text).toBe('tv.home.arpa · 192.0.2.7');
  });

  test('shows a client without a name by its address or key', () => {
    const unnamed = { ...client, hostname: null };
    const made = clientEntries([{ ...unnamed, vendor: 'Raspberry Pi' }], () => undefined);
    expect(made[0]?.text).toBe('192.0.2.7 · Raspberry Pi');
    const keyed = { ...unnamed, ip_address: null, client_key: 'phone' };
    const texts = clientEntries([unnamed, keyed], () => undefined).map(({ text }) => text);
    expect(texts).toEqual(['192.0.2.7', 'phone']);
  });

  test('opens the client that the user selects', () => {
    const opened: number[] = [];
    clientEntries([client], (id) => opened.push(id))[0]?.run();
    expect(opened).toEqual([7]);
  });
});

describe('foundEntries(), the objects found by the search dialog,', () => {
  test('shows a few results of each kind, and opens the result that the user selects', () => {
    const things = Array.from({ length: 50 }, (_, id) => ({
      id,
      text: `Group ${id}`,
      path: `/groups?open=${id}`,
    }));
    const opened: string[] = [];
    const entries = foundEntries('group', things, (path) => opened.push(path));
    expect(entries).toHaveLength(MAX_FOUND);
    entries[1]!.run();
    expect([entries[1]!.id, opened]).toEqual(['group-1', ['/groups?open=1']]);
  });

  test('shows only one of several entries that open the same page', () => {
    const things = [1, 2, 3].map((id) => ({
      id,
      text: 'a.example',
      path: `/rules?search=${id === 3 ? 'b' : 'a'}`,
    }));
    expect(foundEntries('rule', things, () => undefined).map(({ id }) => id)).toEqual(['rule-1', 'rule-3']);
  });
});

describe('hasWords(), whether texts contain the words of a search,', () => {
  test.each([
    ['ADS big', true],
    ['big ads news', false],
  ])('searches the words %p in all texts: %p', (search, isFound) => {
    expect(hasWords(search, ['Big blocklist', 'https://example.org/ads.txt'])).toBe(isFound);
  });
});

describe('nameIn(), the domain name that a user entered,', () => {
  test.each([
    ['ads.example.org', 'ads.example.org'],
    [' Bücher.example ', 'xn--bcher-kva.example'],
    ['queries', null],
    ['a b.example', null],
    ['..', null],
  ])('for %p is %p', (text, name) => {
    expect(nameIn(text)).toBe(name);
  });
});
