import { describe, expect, test } from '@jest/globals';
import { decodedSizeLimit, decodeHuffman } from './huffman.ts';

function decode(hex: string): string | null {
  const bytes = Buffer.from(hex, 'hex');
  const into = new Uint8Array(decodedSizeLimit(bytes.length));
  const size = decodeHuffman(bytes, 0, bytes.length, into);
  return size < 0 ? null : Buffer.from(into.subarray(0, size)).toString('latin1');
}

/** Bytes from a string of bits; the last byte is padded with ones. */
function octetsOf(bits: string): string {
  const whole = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1');
  return (whole.match(/.{8}/g) ?? [])
    .map((octet) => parseInt(octet, 2).toString(16).padStart(2, '0'))
    .join('');
}

describe('decodeHuffman() in HTTP/2 headers', () => {
  test.each([
    ['', ''],
    ['f1e3c2e5f23a6ba0ab90f4ff', 'www.example.com'],
    ['a8eb10649cbf', 'no-cache'],
    ['25a849e95ba97d7f', 'custom-key'],
    ['6402', '302'],
    ['d07abe941054d444a8200595040b8166e082a62d1bff', 'Mon, 21 Oct 2013 20:13:21 GMT'],
    ['9d29ad171863c78f0b97c8e9ae82ae43d3', 'https://www.example.com'],
    [
      '94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007',
      'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
    ],
  ])('decodes %s of RFC 7541 appendix C', (hex, text) => {
    expect(decode(hex)).toBe(text);
  });

  test.each([
    ['the first and the last octet', '1111111111000' + '11111111111111111111101110', '\u0000\u00ff'],
    ['the longest code', '111111111111111111111111111100', '\n'],
    ['a long code between short ones', '00011' + '111111111111111111111111111100' + '00011', 'a\na'],
  ])('decodes %s (RFC 7541 appendix B)', (_what, bits, text) => {
    expect(decode(octetsOf(bits))).toBe(text);
  });

  test.each([
    ['padding of eight bits', octetsOf('00011') + 'ff'],
    ['padding that is not of ones', '18'],
    ['EOS', 'fffffffc'],
    ['half a code', 'fffc'],
  ])('rejects %s (RFC 7541 section 5.2)', (_what, hex) => {
    expect(decode(hex)).toBeNull();
  });
});
