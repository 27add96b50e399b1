import { describe, expect, test } from '@jest/globals';
import { rdataText } from './rdata-text.ts';

const ascii = (value: string): number[] => [value.length, ...Buffer.from(value)];
const name = (...labels: string[]): number[] => [...labels.flatMap(ascii), 0];
const u32 = (value: number): number[] => [value >>> 24, (value >> 16) & 255, (value >> 8) & 255, value & 255];
const TIMERS = [1, 7200, 900, 1209600, 300].flatMap(u32);
const text = (type: number, rdata: number[]): string | null => rdataText(type, Uint8Array.from(rdata));

describe('rdataText()', () => {
  test.each<[string, number, number[], string]>([
    ['DNAME', 39, name('new', 'example'), 'new.example'],
    [
      'SOA',
      6,
      [...name('ns', 'example'), ...name('admin', 'example'), ...TIMERS],
      'ns.example admin.example 1 7200 900 1209600 300',
    ],
    ['CAA', 257, [0, ...ascii('issue'), ...Buffer.from('ca.example; a=1')], '0 issue "ca.example; a=1"'],
    [
      'NAPTR',
      35,
      [0, 10, 0, 20, ...ascii('u'), ...ascii('E2U+sip'), ...ascii('!^.*$!sip:a@b!'), 0],
      '10 20 "u" "E2U+sip" "!^.*$!sip:a@b!" .',
    ],
    ['DS', 43, [0x4f, 0x66, 8, 2, 0xab, 0xcd], '20326 8 2 abcd'],
    ['DNSKEY', 48, [1, 1, 3, 13, 1, 2, 3], '257 3 13 AQID'],
    ['SSHFP', 44, [4, 2, ...Array<number>(32).fill(0x0f)], `4 2 ${'0f'.repeat(32)}`],
    ['TLSA', 52, [3, 1, 1, 0xde, 0xad], '3 1 1 dead'],
  ])('shows %s', (_, type, rdata, expected) => {
    expect(text(type, rdata)).toBe(expected);
  });

  test.each<[string, number, number[]]>([
    ['a label with a dot in it', 39, name('a.b', 'example')],
    ['a label that is not UTF-8', 39, [2, 0xff, 0xfe, 0]],
    ['a label with a control character', 39, name('a\n', 'example')],
    ['a name with a compression pointer', 39, [0xc0, 0x0c]],
    ['a quote in a string', 257, [0, ...ascii('issue'), ...Buffer.from('a" b')]],
    ['a truncated SOA', 6, [...name('ns'), ...name('admin'), 0, 0]],
    ['bytes after the data', 39, [...name('a'), 1]],
    ['no data', 43, []],
    ['an unknown type', 65280, [1, 2]],
  ])('uses the generic format of RFC 3597 for %s', (_, type, rdata) => {
    expect(text(type, rdata)).toBeNull();
  });
});
