import { describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { fitted, printable, printableJson, widthOf } from './printable.ts';

describe('printable()', () => {
  test.each([
    ['a.example.org', 'a.example.org'],
    ['bücher.example 日本', 'bücher.example 日本'],
    ['\u001b[31mred\u001b]0;title\u0007', '\\u{1b}[31mred\\u{1b}]0;title\\u{7}'],
    ['\u009b2J', '\\u{9b}2J'],
    ['a\r\nb\tc\0', 'a\\u{d}\\u{a}b\\u{9}c\\u{0}'],
    ['evil\u202egpj.exe\u2066', 'evil\\u{202e}gpj.exe\\u{2066}'],
    ['a\u2028b', 'a\\u{2028}b'],
    ['\ud800', '\\u{d800}'],
  ])('writes %j as %j', (text, expected) => {
    expect(printable(text)).toBe(expected);
  });

  test('escapes every character that can control a terminal, for generated texts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});

describe('printableJson()', () => {
  test('is JSON of the same value, without control characters', () => {
    const value = { name: '\u001b[31m\u009b2J\u007f\u202e', wide: '日本', tag: '\u{e0041}' };
    const text = printableJson(value, 2);
    expect(JSON.parse(text)).toEqual(value);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(text).toContain('日本');
  });
});

describe('widthOf() and fitted()', () => {
  test.each([
    ['', 0],
    ['abc', 3],
    ['日本', 4],
    ['e\u0301', 1],
    ['😀', 2],
    ['한글', 4],
  ])('widthOf(%j) is %i', (text, width) => {
    expect(widthOf(text)).toBe(width);
  });

  test.each([
    ['abc', 5, 'left', 'abc  '],
    ['abc', 5, 'right', '  abc'],
    ['abcdef', 4, 'left', 'abc…'],
    ['日本語', 5, 'left', '日本…'],
    ['日本語', 4, 'left', '日… '],
    ['abc', 3, 'left', 'abc'],
    ['abc', 0, 'left', ''],
    ['abc', 9, 'unpadded', 'abc'],
  ] as const)('fitted(%j, %i, %s) is %j', (text, width, side, expected) => {
    expect(fitted(text, width, side)).toBe(expected);
  });
});
