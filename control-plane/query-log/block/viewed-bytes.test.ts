/** Reading and comparing bytes as words. */
import { describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { lastWord, sameBytes, viewed } from './viewed-bytes.ts';

describe('lastWord()', () => {
  test('returns up to four bytes before an offset', () => {
    const bytes = Uint8Array.of(0xff, 2, 0x83, 4, 0xf5);
    const found = [1, 3, 4, 5].map((end) => lastWord(viewed(bytes), end, Math.min(end, 3)));
    expect(found).toEqual([0xff, 0x8302ff, 0x048302, 0xf50483]);
    expect(lastWord(viewed(bytes.subarray(2)), 2, 2)).toBe(0x0483);
  });
});

describe('sameBytes()', () => {
  test('compares every byte of the range, and no other bytes', () => {
    const pieces = fc.tuple(fc.uint8Array({ maxLength: 9 }), fc.nat(4), fc.nat(4), fc.nat(8));
    fc.assert(
      fc.property(pieces, ([bytes, oneAt, otherAt, changed]) => {
        const copy = Uint8Array.from(bytes);
        if (changed < copy.length) copy[changed]! ^= 1;
        const one = viewed(Buffer.concat([Buffer.alloc(oneAt, 1), bytes, Buffer.from([3])]));
        const other = viewed(Buffer.concat([Buffer.alloc(otherAt, 2), copy, Buffer.from([4])]));
        const isSame = sameBytes(one.view, oneAt, other.view, otherAt, bytes.length);
        expect(isSame).toBe(changed >= bytes.length);
      }),
    );
  });
});
