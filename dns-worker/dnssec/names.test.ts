import { describe, expect, test } from '@jest/globals';
import { nameFromText } from '../../shared/dns/name.ts';
import { ancestor, commonLabels, compareNames, isAtOrBelow, isBelow, readPlainName } from './names.ts';
import { TypeBitmap } from './type-bitmap.ts';

const name = (text: string): Uint8Array => nameFromText(text)!;

describe('compareNames()', () => {
  test('sorts names as in the example of RFC 4034 section 6.1', () => {
    const ordered = [
      'example',
      'a.example',
      'yljkjljk.a.example',
      'Z.a.example',
      'zABC.a.EXAMPLE',
      'z.example',
      '\\001.z.example',
      '*.z.example',
      '\\200.z.example',
    ].map(name);
    expect([...ordered].reverse().sort(compareNames)).toEqual(ordered);
  });
});

describe('ancestor(), isAtOrBelow(), isBelow() and commonLabels()', () => {
  test('compare names label by label from the root', () => {
    expect(ancestor(name('a.b.c'), 2)).toEqual(name('b.c'));
    expect(ancestor(name('a.b.c'), 0)).toEqual(name('.'));
    expect(isAtOrBelow(name('a.b.c'), name('b.c'))).toBe(true);
    expect(isAtOrBelow(name('ab.c'), name('b.c'))).toBe(false);
    expect(isAtOrBelow(name('b.c'), name('a.b.c'))).toBe(false);
    expect(isBelow(name('b.c'), name('b.c'))).toBe(false);
    expect(isBelow(name('c'), name('.'))).toBe(true);
    expect(commonLabels(name('a.x.c'), name('b.x.c'))).toBe(2);
    expect(commonLabels(name('a'), name('b'))).toBe(0);
  });
});

describe('readPlainName(), which reads an uncompressed name,', () => {
  test.each([[[3, 97]], [[0xc0, 12]], [[64, ...Array<number>(64).fill(97), 0]], [[1, 97]]])(
    'readPlainName(%j) returns null: truncated, compressed or label too long',
    (octets) => {
      expect(readPlainName(Uint8Array.from(octets), 0)).toBeNull();
    },
  );
});

describe('TypeBitmap of NSEC and NSEC3', () => {
  test('reads the example of RFC 4034 section 4.3', () => {
    const octets = Buffer.from(
      '0006400100000003041b000000000000000000000000000000000000000000000000000020',
      'hex',
    );
    const types = TypeBitmap.read(octets)!;
    expect([1, 15, 46, 47, 1234].map((type) => types.has(type))).toEqual([true, true, true, true, true]);
    expect([2, 5, 16, 48, 1233, 1235, 65535].some((type) => types.has(type))).toBe(false);
  });

  test.each([
    ['a window of no bytes', [0, 0]],
    ['a window of 33 bytes', [0, 33, ...Array<number>(33).fill(1)]],
    ['a window that is cut off', [0, 4, 1, 1]],
    ['windows out of order', [1, 1, 1, 0, 1, 1]],
    ['the same window twice', [0, 1, 1, 0, 1, 1]],
    ['a lone byte', [0]],
  ])('rejects %s (dnsmasq CVE-2026-4891)', (_what, octets) => {
    expect(TypeBitmap.read(Uint8Array.from(octets))).toBeNull();
  });
});
