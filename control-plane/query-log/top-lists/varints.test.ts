import { describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { VarintReader, VarintWriter } from './varints.ts';

describe('VarintReader', () => {
  test('reads what VarintWriter wrote', () => {
    fc.assert(
      fc.property(fc.array(fc.maxSafeNat(), { maxLength: 300 }), (numbers) => {
        const writer = new VarintWriter(1);
        for (const number of numbers) writer.put(number);
        const reader = new VarintReader(writer.written());
        expect([...reader.column(numbers.length)]).toEqual(numbers);
        expect(() => reader.next()).toThrow('truncated');
      }),
    );
  });

  test('reads LEB128', () => {
    expect([...new VarintReader(Uint8Array.of(0, 127, 0x80, 1, 0xe5, 0x8e, 0x26)).column(4)]).toEqual([
      0, 127, 128, 624_485,
    ]);
  });

  test('refuses truncated numbers and numbers that are too large', () => {
    expect(() => new VarintReader(Uint8Array.of(0x80)).next()).toThrow('truncated');
    expect(() => new VarintReader(new Uint8Array(9).fill(0xff)).next()).toThrow('more than 2^53');
    expect(() => new VarintReader(new Uint8Array(3)).take(4)).toThrow('truncated');
    expect(new VarintReader(Uint8Array.of(1, 2, 3), 1).take(2)).toEqual(Uint8Array.of(2, 3));
  });
});
