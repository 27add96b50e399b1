import { describe, expect, test } from '@jest/globals';
import { hash } from 'node:crypto';
import { digestOf, keyTag, isAnchorOf, withoutRevocation } from './dnskey-rdata.ts';
import { RRType } from './iana.ts';

describe('keyTag() of a DNSKEY', () => {
  test.each([
    [[], 0],
    [[1, 1, 3, 8], 0x0101 + 0x0308],
    [[1, 1, 3, 8, 7], 0x0101 + 0x0308 + 0x0700],
    // The carry of the sum is added to the sum.
    [[0xff, 0xff, 0xff, 0xff, 0, 3], 3],
  ])('of %j is %d', (rdata, tag) => {
    expect(keyTag(Uint8Array.from(rdata))).toBe(tag);
  });
});

describe('withoutRevocation(), which removes the REVOKE bit of a key,', () => {
  test('clears only the REVOKE bit, in a copy', () => {
    const revoked = Uint8Array.of(0x01, 0x81, 3, 8, 0x80);
    expect([...withoutRevocation(revoked)]).toEqual([0x01, 0x01, 3, 8, 0x80]);
    expect(revoked[1]).toBe(0x81);
  });
});

describe('digestOf(), the hash for a DS digest type,', () => {
  test('supports SHA-1, SHA-256 and SHA-384', () => {
    expect([0, 1, 2, 3, 4, 5].map((number) => digestOf(number)?.length)).toEqual([
      undefined,
      20,
      32,
      undefined,
      48,
      undefined,
    ]);
  });
});

describe('isAnchorOf(), whether a trust anchor matches a key,', () => {
  const key = Uint8Array.of(1, 1, 3, 15, 1, 2, 3);
  const zone = Uint8Array.of(1, 97, 0);
  const tag = keyTag(key);

  function digestAnchor(name: string, number: number, change: Partial<{ tag: number }> = {}) {
    const digest = hash(name, Buffer.concat([zone, key]), 'buffer');
    const own = change.tag ?? tag;
    return { zone, type: RRType.DS, rdata: Uint8Array.from([own >> 8, own & 255, 15, number, ...digest]) };
  }

  test('is true for an equal key', () => {
    const anchor = { zone, type: RRType.DNSKEY, rdata: key };
    expect([isAnchorOf(anchor, key), isAnchorOf(anchor, key.subarray(1))]).toEqual([true, false]);
  });

  test('is true for a key of the zone with the digest and tag of the anchor', () => {
    for (const [name, number] of [
      ['sha1', 1],
      ['sha256', 2],
      ['sha384', 4],
    ] as const)
      expect(isAnchorOf(digestAnchor(name, number), key)).toBe(true);
    expect(isAnchorOf(digestAnchor('sha256', 3), key)).toBe(false);
    expect(isAnchorOf(digestAnchor('sha256', 2, { tag: tag + 1 }), key)).toBe(false);
    expect(isAnchorOf({ ...digestAnchor('sha256', 2), zone: Uint8Array.of(0) }, key)).toBe(false);
  });
});
