import { describe, expect, test } from '@jest/globals';
import fc from '../../test/support/parts/fast-check.ts';
import { hashName, MAX_NAME_LENGTH, nameFromText, type NameHash, nameToText } from './name.ts';

/** Any valid name as a list of labels of raw bytes. */
const wireName = fc.array(fc.uint8Array({ minLength: 1, maxLength: 63 }), { maxLength: 12 }).map((labels) => {
  const bytes: number[] = [];
  for (const label of labels)
    if (bytes.length + label.length + 2 <= MAX_NAME_LENGTH) bytes.push(label.length, ...label);
  return Uint8Array.from([...bytes, 0]);
});

describe('nameFromText()', () => {
  test.each([
    ['', [0]],
    ['.', [0]],
    ['com', [3, 0x63, 0x6f, 0x6d, 0]],
    ['COM.', [3, 0x63, 0x6f, 0x6d, 0]],
    ['a.b', [1, 0x61, 1, 0x62, 0]],
    ['a\\.b', [3, 0x61, 0x2e, 0x62, 0]],
    ['\\000\\255', [2, 0, 255, 0]],
    ['\\065', [1, 0x61, 0]],
  ])('nameFromText(%j) returns the wire form in lower case', (text, wire) => {
    expect(nameFromText(text)).toEqual(Uint8Array.from(wire));
  });

  test.each([
    ['..'],
    ['a..b'],
    ['.a'],
    ['a\\'],
    ['\\256'],
    ['\\12'],
    ['a'.repeat(64)],
    [`${'a.'.repeat(127)}bc`],
  ])('nameFromText(%j) rejects an invalid name', (text) => {
    expect(nameFromText(text)).toBeNull();
  });

  test('accepts a name of exactly 255 bytes and no longer name', () => {
    const label = 'a'.repeat(63);
    const longest = `${label}.${label}.${label}.${'b'.repeat(61)}`;
    expect(nameFromText(longest)).toHaveLength(MAX_NAME_LENGTH);
    expect(nameFromText(`${longest}.`)).toHaveLength(MAX_NAME_LENGTH);
    expect(nameFromText(`${longest}c`)).toBeNull();
  });
});

describe('nameToText()', () => {
  test('is the inverse of nameFromText() for every name', () => {
    fc.assert(
      fc.property(wireName, (wire) => {
        const folded = Uint8Array.from(wire);
        for (let at = 0; folded[at] !== 0; at += folded[at]! + 1)
          for (let i = at + 1; i <= at + folded[at]!; i++)
            if (folded[i]! >= 0x41 && folded[i]! <= 0x5a) folded[i] = folded[i]! + 32;
        expect(nameFromText(nameToText(wire))).toEqual(folded);
      }),
    );
  });

  test('ignores the additional arguments of a map() callback', () => {
    const names = ['.', 'a.example', 'b.example', 'www.c.example'];
    expect(names.map((name) => nameFromText(name)!).map(nameToText)).toEqual(names);
  });

  test.each([
    ['no bytes', [], '.'],
    ['a name without its root', [1, 0x61], 'a'],
    ['what follows the root', [1, 0x61, 0, 1, 0x62, 0], 'a'],
  ])('stops at %s', (_, wire, text) => {
    expect(nameToText(Uint8Array.from(wire))).toBe(text);
  });
});

describe('hashName()', () => {
  test("of a parent domain equals the hash of the child's labels from the parent on", () => {
    const child = nameFromText('ads.example.com')!;
    const parent = nameFromText('example.com')!;
    const a: NameHash = { low: 0, high: 0 };
    const b: NameHash = { low: 0, high: 0 };
    hashName(child, 4, 11, 22, a);
    hashName(parent, 0, 11, 22, b);
    expect(a).toEqual(b);
  });

  test('distinguishes two labels from one joined label, and depends on its seeds', () => {
    const lanes = (text: string, seed: number): string => {
      const into: NameHash = { low: 0, high: 0 };
      hashName(nameFromText(text)!, 0, seed, seed + 1, into);
      return `${String(into.low)}/${String(into.high)}`;
    };
    expect(lanes('ab.c', 1)).not.toBe(lanes('a.bc', 1));
    expect(lanes('example.com', 1)).not.toBe(lanes('example.com', 2));
  });

  test('hashes 200,000 names without a 64-bit collision, and evenly over buckets', () => {
    const seen = new Set<string>();
    const buckets = new Uint32Array(1000);
    const into: NameHash = { low: 0, high: 0 };
    for (let i = 0; i < 200_000; i++) {
      hashName(nameFromText(`host${String(i)}.example${String(i % 97)}.com`)!, 0, 0x1234, 0x5678, into);
      seen.add(`${String(into.low)}/${String(into.high)}`);
      const bucket = Math.floor(((into.low >>> 0) / 0x1_0000_0000) * 1000);
      buckets[bucket] = buckets[bucket]! + 1;
    }
    expect(seen.size).toBe(200_000);
    // The expected number is 200; six standard deviations are 85.
    expect(Math.min(...buckets)).toBeGreaterThan(115);
    expect(Math.max(...buckets)).toBeLessThan(285);
  });
});
