import { describe, expect, test } from '@jest/globals';
import { rdataText } from './rdata-text.ts';
import { decodeStoredAnswers } from './stored-answers.ts';

/** One record whose owner is a pointer to the question. */
function record(type: number, rdata: number[], owner: number[] = [0xc0, 0x0c]): number[] {
  return [
    ...owner,
    type >> 8,
    type & 255,
    0,
    1,
    0,
    0,
    0,
    60,
    rdata.length >> 8,
    rdata.length & 255,
    ...rdata,
  ];
}
const text = (value: string): number[] => [value.length, ...Buffer.from(value)];

function decode(domain: string, ...records: number[][]): string[] {
  return decodeStoredAnswers(domain, Uint8Array.from(records.flat()), rdataText).map(
    (a) => `${a.name} ${a.ttl} ${a.type} ${a.data}`,
  );
}

describe('decodeStoredAnswers()', () => {
  test.each<[string, number, number[], string]>([
    ['A', 1, [192, 0, 2, 1], 'A 192.0.2.1'],
    ['AAAA', 28, [0x20, 1, 0xd, 0xb8, ...Array<number>(11).fill(0), 1], 'AAAA 2001:db8::1'],
    ['CNAME into the question', 5, [...text('cdn'), 0xc0, 0x10], 'CNAME cdn.example'],
    ['MX', 15, [0, 10, ...text('mx'), 0], 'MX 10 mx'],
    ['SRV', 33, [0, 1, 0, 2, 0x14, 0xe9, ...text('sip'), 0], 'SRV 1 2 5353 sip'],
    ['TXT', 16, [...text('a "b"'), 3, 0x5c, 0xc3, 0xa9], 'TXT "a \\"b\\"" "\\\\\\195\\169"'],
    ['DS', 43, [0x4f, 0x66, 8, 2, 0xab, 0xcd], 'DS 20326 8 2 abcd'],
    ['a type it has no words for', 65280, [1, 2, 255], 'TYPE65280 \\# 3 0102ff'],
    ['an A of the wrong length', 1, [1, 2], 'A \\# 2 0102'],
  ])('decodeStoredAnswers() shows %s', (_, type, rdata, expected) => {
    expect(decode('www.example', record(type, rdata))).toEqual([`www.example 60 ${expected}`]);
  });

  test('decodeStoredAnswers() follows a chain of records', () => {
    const alias = record(5, [...text('cdn'), 0xc0, 0x10]);
    const atAlias = 12 + 13 + 4 + 12;
    expect(decode('www.example', alias, record(1, [192, 0, 2, 1], [0xc0, atAlias]))).toEqual([
      'www.example 60 CNAME cdn.example',
      'cdn.example 60 A 192.0.2.1',
    ]);
  });

  test('decodeStoredAnswers() stops at pointers that lead nowhere or form a loop, and at truncated records', () => {
    const good = record(1, [192, 0, 2, 1]);
    const self = 12 + 13 + 4;
    for (const bad of [
      record(1, [1, 2, 3, 4], [0xc0, self + good.length]),
      record(1, [1], [0xff, 0xff]),
      good.slice(0, 9),
    ]) {
      expect(decode('www.example', good, bad)).toEqual(['www.example 60 A 192.0.2.1']);
    }
  });

  test('decodeStoredAnswers() stops at a name that pointers make longer than 255 bytes', () => {
    const labels = Array.from({ length: 3 }, () => text('a'.repeat(63))).flat();
    const longOwner = record(1, [192, 0, 2, 1], [...labels, 0xc0, 0x0c]);
    expect(decode(`${'b'.repeat(52)}.example`, longOwner)).toHaveLength(1);
    expect(decode(`${'b'.repeat(60)}.example`, longOwner)).toEqual([]);
  });

  test('decodeStoredAnswers() never throws, whatever the bytes', () => {
    let seed = 1;
    for (let round = 0; round < 3000; round++) {
      const bytes = Uint8Array.from({ length: round % 60 }, () => (seed = (seed * 48271) % 0x7fffffff) & 255);
      expect(Array.isArray(decodeStoredAnswers('a.example', bytes, rdataText))).toBe(true);
    }
  });
});
