import { describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { HpackDecoder, HpackError } from './hpack.ts';

const decoderOf = (): HpackDecoder => new HpackDecoder(16_384);
const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');

describe('HpackDecoder of HTTP/2 headers', () => {
  test('decodes three requests of one connection (RFC 7541 appendix C.4)', () => {
    const decoder = decoderOf();
    const first = [
      [':method', 'GET'],
      [':scheme', 'http'],
      [':path', '/'],
      [':authority', 'www.example.com'],
    ];
    expect(decoder.decode(bytes('8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff'))).toEqual(first);
    expect(decoder.decode(bytes('8286 84be 5886 a8eb 1064 9cbf'))).toEqual([
      ...first,
      ['cache-control', 'no-cache'],
    ]);
    expect(decoder.decode(bytes('8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf'))).toEqual([
      [':method', 'GET'],
      [':scheme', 'https'],
      [':path', '/index.html'],
      [':authority', 'www.example.com'],
      ['custom-key', 'custom-value'],
    ]);
  });

  test('evicts entries when the table size changes (RFC 7541 sections 4.2 and 4.3)', () => {
    const decoder = decoderOf();
    decoder.decode(bytes('40 01 61 01 62'));
    expect(decoder.decode(bytes('be'))).toEqual([['a', 'b']]);
    // The table is limited to size 0, then enlarged again: the entry was evicted.
    expect(() => decoder.decode(bytes('20 3f e1 1f be'))).toThrow(HpackError);
  });

  test('stores no more entries than fit into the table size', () => {
    const decoder = decoderOf();
    const value = Buffer.alloc(100, 0x76);
    for (let i = 0; i < 200; i++) decoder.decode(Buffer.concat([bytes('40 01 61 64'), value]));
    // 4096 / (1 + 100 + 32) entries.
    expect(decoder.decode(bytes('db'))).toHaveLength(1);
    expect(() => decoder.decode(bytes('dc'))).toThrow(HpackError);
  });

  test('reads literal fields without indexing', () => {
    expect(decoderOf().decode(bytes('04 03 2f 61 62 10 01 61 01 62'))).toEqual([
      [':path', '/ab'],
      ['a', 'b'],
    ]);
  });

  test('reports header fields that are too large, and continues with the next block', () => {
    const decoder = new HpackDecoder(100);
    const field = Buffer.concat([bytes('40 01 61 50'), Buffer.alloc(80, 0x76)]);
    expect(decoder.decode(Buffer.concat([field, field]))).toBeNull();
    expect(decoder.decode(bytes('82'))).toEqual([[':method', 'GET']]);
  });

  test.each([
    ['the index 0', '80'],
    ['an index without an entry', 'ff 00'],
    ['an integer without end', 'ff ff ff ff ff ff'],
    ['a block that ends in an integer', 'ff'],
    ['a string beyond the block', '00 05 61'],
    ['a block that ends before a value', '00 01 61'],
    ['a malformed code', '00 01 61 84 ff ff ff ff'],
    ['a table that is too large', '3f e2 1f'],
    ['a size update after a field', '82 20'],
  ])('rejects %s', (_what, hex) => {
    expect(() => decoderOf().decode(bytes(hex))).toThrow(HpackError);
  });

  test('throws only HpackError, for any bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 5 }), (blocks) => {
        const decoder = decoderOf();
        try {
          for (const block of blocks) decoder.decode(block);
        } catch (error) {
          expect(error).toBeInstanceOf(HpackError);
        }
      }),
    );
  });
});
