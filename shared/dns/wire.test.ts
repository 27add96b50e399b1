import { describe, expect, test } from '@jest/globals';
import { nameFromText } from './name.ts';
import { readU16, readU32, skipName, skipRecord, writeU16, writeU32 } from './wire.ts';

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
  ])('rejects %s', (_, bytes) => {
    expect(skipName(Uint8Array.from(bytes), 0, bytes.length)).toBe(-1);
  });
});

describe('skipRecord()', () => {
  const record = [1, 97, 0, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1];

  test('returns the offset after the RDATA', () => {
    expect(skipRecord(Uint8Array.from([9, ...record, 9]), 1, record.length + 2)).toBe(record.length + 1);
    expect(skipRecord(Uint8Array.from(record), 0, record.length)).toBe(record.length);
    const empty = [0, 0, 1, 0, 1, 0, 0, 0, 60, 0, 0];
    expect(skipRecord(Uint8Array.from(empty), 0, empty.length)).toBe(empty.length);
  });

  test('rejects a record that is truncated at any byte', () => {
    for (let end = 0; end < record.length; end++)
      expect([end, skipRecord(Uint8Array.from(record), 0, end)]).toEqual([end, -1]);
  });
});

describe('readU16(), readU32(), writeU16() and writeU32()', () => {
  test('use network byte order and unsigned integers', () => {
    const bytes = new Uint8Array(8);
    writeU16(bytes, 1, 0xfedc);
    writeU32(bytes, 3, 0xba987654);
    expect([...bytes]).toEqual([0, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0]);
    expect([readU16(bytes, 1), readU32(bytes, 3)]).toEqual([0xfedc, 0xba987654]);
  });
});
