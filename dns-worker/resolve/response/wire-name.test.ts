import { describe, expect, test } from '@jest/globals';
import { nameToText } from '../../../shared/dns/name.ts';
import { octets, wireName } from '../../../test/support/dns/built-messages.ts';
import {
  copyName,
  type ExpandedName,
  expandName,
  findSuffix,
  foldedHash,
  newExpandedName,
  sameName,
} from './wire-name.ts';

const HEADER = new Uint8Array(12);

/** The name at `at` after a header, and the offset after it; null = refused. */
function read(bytes: Uint8Array | readonly number[], at = 0): [string, number] | null {
  const name = newExpandedName();
  if (!expandName(octets(HEADER, bytes), 12 + at, name)) return null;
  return [nameToText(name.wire.slice(0, name.length)), name.next - 12];
}

function expanded(text: string): ExpandedName {
  const name = newExpandedName();
  expandName(octets(HEADER, wireName(text)), 12, name);
  return name;
}

/** Labels of 49 bytes, then one of `last` bytes, in wire form. */
function longName(last: number): Uint8Array {
  const label = octets([49], Buffer.alloc(49, 'a'));
  return octets(label, label, label, label, label, [last], Buffer.alloc(last, 'b'), [0]);
}

describe('expandName(), which decompresses a name,', () => {
  test('reads a name unchanged, including its letter case', () => {
    expect(read([1, 0x41, 1, 98, 0, 9])).toEqual(['A.b', 5]);
    expect(read([0])).toEqual(['.', 1]);
  });

  test('follows compression pointers, and continues after the first pointer', () => {
    const bytes = octets(wireName('test'), [1, 98, 0xc0, 12], [1, 97, 0xc0, 18]);
    expect(read(bytes, 10)).toEqual(['a.b.test', 14]);
  });

  test.each([
    ['to itself', [0xc0, 12], 0],
    ['forwards', [0xc0, 14, 0], 0],
    ['into the header', [0xc0, 11], 0],
    ['in a circle', [1, 97, 0xc0, 12], 2],
    ['with its second byte cut off', [0xc0], 0],
  ])('rejects a compression pointer %s', (_, bytes, at) => {
    expect(read(at === 2 ? octets(bytes, [0xc0, 14]) : bytes, at === 2 ? 4 : 0)).toBeNull();
  });

  test('accepts a name of 255 bytes, but not one of 256', () => {
    expect(longName(3)).toHaveLength(255);
    expect(read(longName(3))?.[1]).toBe(255);
    expect(read(longName(4))).toBeNull();
  });

  test('rejects reserved label types and truncated names', () => {
    expect(read([64, ...Array<number>(64).fill(97), 0])).toBeNull();
    expect(read([2, 97])).toBeNull();
    expect(read([1, 97])).toBeNull();
    expect(read([])).toBeNull();
  });

  test('follows 127 pointers at most', () => {
    // A root, then pointers, each to the previous one.
    const chain = (jumps: number): number[] => [
      0,
      ...Array.from({ length: jumps }, (_, i) => [0xc0, i === 0 ? 12 : 11 + 2 * i]).flat(),
    ];
    expect(read(chain(100), 1 + 2 * 99)).toEqual(['.', 201]);
    const far = Array.from({ length: 128 }, (_, i) => {
      const target = i === 0 ? 12 : 11 + 2 * i;
      return [0xc0 | (target >>> 8), target & 0xff];
    }).flat();
    expect(read([0, ...far], 1 + 2 * 126)?.[0]).toBe('.');
    expect(read([0, ...far], 1 + 2 * 127)).toBeNull();
  });
});

describe('sameName()', () => {
  test('ignores the case of ASCII letters, and nothing else', () => {
    const same = (a: string, b: string): boolean =>
      sameName(
        wireName(a),
        wireName(a).length,
        Uint8Array.from(octets([b.length], Buffer.from(b), [0])),
        b.length + 2,
      );
    expect([same('test', 'TeSt'), same('test', 'tesu'), same('test', 'tes')]).toEqual([true, false, false]);
    expect(sameName(Uint8Array.of(1, 0x5b, 0), 3, Uint8Array.of(1, 0x7b, 0), 3)).toBe(false);
  });
});

describe('findSuffix(), which finds a domain at the end of a name,', () => {
  test.each([
    ['a.b.test', 'b.test', 2],
    ['a.b.test', 'a.b.test', 0],
    ['a.b.test', '.', 9],
    ['ab.test', 'b.test', -1],
    ['b.test', 'a.b.test', -1],
    ['a.c.test', 'b.test', -1],
  ])('returns for %s and %s the offset %d', (name, suffix, at) => {
    expect(findSuffix(expanded(name), expanded(suffix))).toBe(at);
  });
});

describe('foldedHash(), a case-insensitive hash of a name,', () => {
  test('is the same for a name in any letter case, and different for a different seed or name', () => {
    const upper = newExpandedName();
    expandName(octets(HEADER, [4], Buffer.from('TEST'), [0]), 12, upper);
    expect(foldedHash(upper, 5)).toBe(foldedHash(expanded('test'), 5));
    expect(foldedHash(upper, 6)).not.toBe(foldedHash(upper, 5));
    expect(foldedHash(expanded('tesu'), 5)).not.toBe(foldedHash(upper, 5));
  });
});

describe('copyName(), which copies a name into a buffer,', () => {
  test('overwrites a longer name with a shorter one', () => {
    const to = expanded('a.long.name.test');
    copyName(expanded('b.test'), to);
    expect(nameToText(to.wire.slice(0, to.length))).toBe('b.test');
  });
});
