import { describe, expect, test } from '@jest/globals';
import { ByteCache } from './byte-cache.ts';

/** Those of `keys` that are in the cache. */
const kept = (cache: ByteCache<string>, keys: string): string =>
  Array.from(keys)
    .filter((key) => cache.get(key) === key)
    .join('');

function rounds(cache: ByteCache<string>, count: number): void {
  for (let i = 0; i < count; i++) cache.beginRound();
}

describe('ByteCache', () => {
  test('evicts the least recently used entry only after it was unused for some rounds', () => {
    const cache = new ByteCache<string>(30);
    for (const key of 'abc') expect(cache.put(key, key, 10)).toBe(true);
    expect(cache.put('d', 'd', 10)).toBe(false);
    rounds(cache, 8);
    cache.get('a');
    expect(cache.put('d', 'd', 10)).toBe(true);
    expect(kept(cache, 'abcd')).toBe('acd');
  });

  test('counts the new size of a replaced or enlarged value, and is empty after clear()', () => {
    const cache = new ByteCache<string>(30);
    cache.put('a', 'a', 20);
    cache.put('a', 'a', 10);
    expect(cache.enlarge('a', 10)).toBe(true);
    expect(cache.enlarge('a', 11)).toBe(false);
    expect(cache.enlarge('b', 1)).toBe(false);
    expect(cache.put('b', 'b', 11)).toBe(false);
    expect(cache.put('b', 'b', 10)).toBe(true);
    cache.clear();
    expect(kept(cache, 'ab')).toBe('');
    expect(cache.put('c', 'c', 30)).toBe(true);
  });

  test('stores nothing that is larger than the cache', () => {
    const cache = new ByteCache<string>(30);
    cache.put('a', 'a', 10);
    rounds(cache, 9);
    expect(cache.put('b', 'b', 31)).toBe(false);
  });
});
