import { describe, expect, test } from '@jest/globals';
import { areOptions, BROKEN_OPTIONS, findOption, NO_OPTION, optionEnd } from './edns-option.ts';

const option = (code: number, ...data: number[]): number[] => [
  code >> 8,
  code & 255,
  0,
  data.length,
  ...data,
];
/** Options at offset 2, with two bytes before and after them. */
const around = (...options: number[][]): Uint8Array => Uint8Array.from([9, 9, ...options.flat(), 0, 8]);

describe('findOption() in an OPT record', () => {
  const bytes = around(option(10, 1, 2), option(8), option(300, 7), option(10));
  const end = bytes.length - 2;

  test('finds the first option with a code', () => {
    expect([10, 8, 300].map((code) => findOption(bytes, 2, end, code))).toEqual([2, 8, 12]);
    expect(findOption(bytes, 8, end, 10)).toBe(17);
    expect(optionEnd(bytes, 12)).toBe(17);
  });

  test('finds no option beyond the end, and ignores trailing bytes too short for an option', () => {
    expect(findOption(bytes, 2, end, 9)).toBe(NO_OPTION);
    expect(findOption(bytes, 2, end - 1, 10)).toBe(2);
    expect(findOption(bytes, 17, end - 1, 10)).toBe(NO_OPTION);
    expect(findOption(bytes, 2, 2, 10)).toBe(NO_OPTION);
  });

  test('returns BROKEN_OPTIONS if an option exceeds the end, even the requested option', () => {
    expect(findOption(bytes, 2, 7, 8)).toBe(BROKEN_OPTIONS);
    expect(findOption(bytes, 2, 7, 10)).toBe(BROKEN_OPTIONS);
    expect(findOption(bytes, 2, 8, 10)).toBe(2);
  });
});

describe('areOptions(), whether bytes are complete EDNS options,', () => {
  test('accepts from 0 to 64 options', () => {
    for (const count of [0, 1, 2, 64]) {
      const bytes = around(...Array.from({ length: count }, () => option(12, 0)));
      expect([count, areOptions(bytes, 2, bytes.length - 2)]).toEqual([count, true]);
    }
    const many = around(...Array.from({ length: 65 }, () => option(12)));
    expect(areOptions(many, 2, many.length - 2)).toBe(false);
  });

  test('rejects bytes that end in the middle of an option', () => {
    const bytes = around(option(12, 1, 2), option(3, 4));
    for (let end = 3; end < bytes.length; end++)
      expect([end, areOptions(bytes, 2, end)]).toEqual([end, end === 8 || end === 13]);
  });
});
