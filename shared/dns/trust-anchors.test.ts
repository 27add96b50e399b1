import { describe, expect, test } from '@jest/globals';
import { RRType } from './iana.ts';
import { readTrustAnchors, rootTrustAnchors } from './trust-anchors.ts';

describe('rootTrustAnchors()', () => {
  test('returns the root keys 20326 and 38696', () => {
    const tags = rootTrustAnchors().map(({ zone, rdata }) => [
      zone.length,
      (rdata[0]! << 8) | rdata[1]!,
      rdata.length,
    ]);
    expect(tags).toEqual([
      [1, 20326, 36],
      [1, 38696, 36],
    ]);
  });
});

describe('readTrustAnchors()', () => {
  test('reads DS and DNSKEY with and without TTL, class, comments and parentheses', () => {
    const anchors = readTrustAnchors(`
; the private root
. 3600 IN DS 12345 13 2 ( AABB
   CCDD ) ; over lines
Corp.example. IN DNSKEY (257 3
15 AAEC
Awo=)
test DS 1 8 2 00
`);
    expect(anchors).toEqual([
      {
        zone: Uint8Array.of(0),
        type: RRType.DS,
        rdata: Uint8Array.of(0x30, 0x39, 13, 2, 0xaa, 0xbb, 0xcc, 0xdd),
      },
      {
        zone: Uint8Array.from([4, ...Buffer.from('corp'), 7, ...Buffer.from('example'), 0]),
        type: RRType.DNSKEY,
        rdata: Uint8Array.of(1, 1, 3, 15, 0, 1, 2, 3, 10),
      },
      {
        zone: Uint8Array.from([4, ...Buffer.from('test'), 0]),
        type: RRType.DS,
        rdata: Uint8Array.of(0, 1, 8, 2, 0),
      },
    ]);
  });

  test.each([
    ['', 'it contains no DS'],
    ['. IN A 192.0.2.1', 'neither DS nor DNSKEY'],
    ['. IN DS 70000 8 2 AA', 'a number'],
    ['. IN DS 1 8', 'a number'],
    ['. IN DS 1 8 2 XY', 'the digest or key'],
    ['. IN DNSKEY 257 3 8 %%%', 'the digest or key'],
    ['a..b DS 1 8 2 AA', 'the owner is not a name'],
  ])('readTrustAnchors(%j) fails with: %s', (text, reason) => {
    expect(() => readTrustAnchors(text)).toThrow(reason);
  });
});
