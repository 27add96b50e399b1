/** Conversion of numbers to byte planes and back. */
import { describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { fromDeltaPlanes, fromPlanes, toDeltaPlanes, toPlanes16, toPlanes32 } from './planes.ts';

/** Small and large numbers, so that some planes are all zero. */
const numbers = fc
  .constantFrom(8, 16, 24, 32)
  .chain((bits) => fc.array(fc.integer({ min: 0, max: 2 ** bits - 1 }), { maxLength: 20 }));

describe('toPlanes16() and toPlanes32()', () => {
  test('write the first byte of each number, then the second byte of each number, and so on', () => {
    const halves = toPlanes16(Uint16Array.of(0x0102, 0x0304, 0xffff), 2);
    const words = toPlanes32(Uint32Array.of(0x0102_0304, 0xf506_0708, 9), 2);
    expect([[...halves], [...words]]).toEqual([
      [2, 4, 1, 3],
      [4, 8, 3, 7, 2, 6, 1, 0xf5],
    ]);
  });

  test('are undone by fromPlanes() and fromDeltaPlanes()', () => {
    fc.assert(
      fc.property(numbers, (list) => {
        const [halves, words] = [Uint16Array.from(list), Uint32Array.from(list)];
        expect(fromPlanes(toPlanes16(halves, list.length), 2)).toEqual(Uint32Array.from(halves));
        expect(fromPlanes(toPlanes32(words, list.length), 4)).toEqual(words);
        expect(fromDeltaPlanes(toDeltaPlanes(words, list.length))).toEqual(words);
      }),
    );
  });
});
