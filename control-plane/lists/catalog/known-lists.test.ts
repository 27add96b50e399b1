import { describe, expect, test } from '@jest/globals';
import { KnownListList } from '../../../shared/api/lists/list-catalog-api.ts';
import { SourceCreateBody } from '../../../shared/api/policy/sources-api.ts';
import { KNOWN_LISTS } from './known-lists.ts';

describe('the table of known lists', () => {
  test('is valid in the API, and each of its names and URLs is unique and valid for a new list', () => {
    expect(() => KnownListList.parse(KNOWN_LISTS)).not.toThrow();
    for (const { name, url } of KNOWN_LISTS)
      expect(SourceCreateBody.safeParse({ name, url })).toMatchObject({ success: true });
    for (const key of ['name', 'url'] as const)
      expect(new Set(KNOWN_LISTS.map((list) => list[key])).size).toBe(KNOWN_LISTS.length);
  });

  test('contains only HTTPS URLs, also for home pages', () => {
    const addresses = KNOWN_LISTS.flatMap(({ url, homepage }) => [url, homepage]);
    expect(addresses.filter((address) => new URL(address).protocol !== 'https:')).toEqual([]);
  });

  test('has lists for each purpose, and allowlists only to fix what blocklists break', () => {
    const purposes = new Set(KNOWN_LISTS.map(({ purpose }) => purpose));
    expect(purposes.size).toBe(9);
    for (const { kind, purpose } of KNOWN_LISTS) expect(kind === 'allow').toBe(purpose === 'repair');
  });
});
