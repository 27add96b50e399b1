import { describe, expect, test } from '@jest/globals';
import { nameFromText } from './name.ts';
import { skipName } from './wire.ts';

describe('skipName()', () => {
  test.each([
    ['a name', [...nameFromText('a.test')!, 9], 8],
    ['the root', [0], 1],
    ['a pointer behind a label', [1, 97, 0xc0, 12, 9], 4],
  ])('returns the offset after %s', (_, bytes, expected) => {
    expect(skipName(Uint8Array.from(bytes), 0, bytes.length)).toBe(expected);
  });

  test.each([
    ['a name that the end cuts off', [1, 97]],
    ['half a pointer', [1, 97, 0xc0]],
    ['a reserved label type', [0x80, 0, 0]],
    ['a name of more than 255 bytes', Array.from({ length: 300 }, (_, i) => (i % 2 === 0 ? 1 : 97))],
  ])('refuses %s', (_, bytes) => {
    expect(skipName(Uint8Array.from(bytes), 0, bytes.length)).toBe(-1);
  });
});
