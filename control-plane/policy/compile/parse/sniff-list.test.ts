import { describe, expect, test } from '@jest/globals';
import { hasBom, SNIFF_BYTES, sniffList } from './sniff-list.ts';

const BOM = [0xef, 0xbb, 0xbf];
const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));

describe('sniffList()', () => {
  test.each([
    ['an empty text', bytes('')],
    ['a list of names', bytes('a.example\n')],
    ['a byte order mark', bytes(BOM, 'a.example\n')],
    ['a less-than sign within a line', bytes('a.example <b>\n')],
    ['a NUL byte after the examined bytes', bytes('a'.repeat(SNIFF_BYTES), [0])],
  ])('accepts %s as a list', (_, head) => {
    expect(sniffList(head)).toBeNull();
  });

  test.each([
    ['little-endian UTF-16', bytes([0xff, 0xfe], 'a'), 'the text is UTF-16; lists are UTF-8'],
    ['big-endian UTF-16', bytes([0xfe, 0xff], 'a'), 'the text is UTF-16; lists are UTF-8'],
    ['a web page', bytes('<html>'), 'the file is an HTML or XML page'],
    ['a web page after white space', bytes(BOM, ' \r\n\t<?xml'), 'the file is an HTML or XML page'],
    ['a NUL byte at the start', bytes([0], '<'), 'the file is binary'],
    ['a NUL byte at the end', bytes('a'.repeat(SNIFF_BYTES - 1), [0]), 'the file is binary'],
  ])('refuses %s', (_, head, reason) => {
    expect(sniffList(head)).toBe(reason);
  });
});

describe('hasBom()', () => {
  test('requires all three bytes', () => {
    const heads = [BOM, [0xef, 0xbb], [0xef, 0xbb, 0xbe], [0xee, 0xbb, 0xbf], [0xef, 0xba, 0xbf]];
    expect(heads.map((head) => hasBom(Uint8Array.from(head)))).toEqual([true, false, false, false, false]);
  });
});
