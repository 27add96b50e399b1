import { describe, expect, test } from '@jest/globals';
import { hashText } from './text-hash.ts';

function hash(text: string, tag = 0, key0 = 1, key1 = 2): number {
  const bytes = Buffer.from(`..${text}`, 'latin1');
  return hashText(bytes, 2, text.length, tag, Int32Array.of(key0, key1));
}

describe('hashText()', () => {
  test('depends on each byte, the length, the tag and both keys', () => {
    const text = 'www.example.org';
    const changed = Array.from(text, (_, i) => hash(`${text.slice(0, i)}!${text.slice(i + 1)}`));
    const cut = Array.from(text, (_, i) => hash(text.slice(0, i)));
    const all = [hash(text), hash(text, 1), hash(text, 0, 2), hash(text, 0, 1, 4), ...changed, ...cut];
    expect(new Set(all).size).toBe(all.length);
    expect(hash(text)).toBe(hash(text));
  });

  test('distributes texts over all hash values even if they differ only in a number', () => {
    const buckets = new Uint32Array(64);
    for (let i = 0; i < 64_000; i++) {
      const value = hash(`host${i}.example.org`);
      buckets[value & 63]!++;
      buckets[value >>> 26]!++;
    }
    expect(Math.min(...buckets)).toBeGreaterThan(1700);
    expect(Math.max(...buckets)).toBeLessThan(2300);
  });
});
