import { describe, expect, test } from '@jest/globals';
import fc from '../../test/support/parts/fast-check.ts';
import { sipHash } from './siphash.ts';

/** Hash of `message` with `key`, as bytes. */
function hashOf(key: Uint8Array, message: Uint8Array): string {
  const padded = new Uint8Array(((message.length >>> 3) + 1) << 3);
  padded.set(message);
  const into = new Int32Array(2);
  sipHash(new Int32Array(key.slice().buffer), 0, new Int32Array(padded.buffer), message.length, into);
  return Buffer.from(into.buffer).toString('hex');
}

const MASK = (1n << 64n) - 1n;
const rotated = (word: bigint, bits: bigint): bigint => ((word << bits) | (word >> (64n - bits))) & MASK;

/** The algorithm as its authors describe it, on 64-bit words. */
function plainHash(key: Uint8Array, message: Uint8Array): string {
  const [k0, k1] = [Buffer.from(key).readBigUInt64LE(0), Buffer.from(key).readBigUInt64LE(8)];
  let [v0, v1, v2, v3] = [
    k0 ^ 0x736f6d6570736575n,
    k1 ^ 0x646f72616e646f6dn,
    k0 ^ 0x6c7967656e657261n,
    k1 ^ 0x7465646279746573n,
  ];
  const rounds = (count: number): void => {
    for (let i = 0; i < count; i++) {
      v0 = (v0 + v1) & MASK;
      v1 = rotated(v1, 13n) ^ v0;
      v0 = rotated(v0, 32n);
      v2 = (v2 + v3) & MASK;
      v3 = rotated(v3, 16n) ^ v2;
      v0 = (v0 + v3) & MASK;
      v3 = rotated(v3, 21n) ^ v0;
      v2 = (v2 + v1) & MASK;
      v1 = rotated(v1, 17n) ^ v2;
      v2 = rotated(v2, 32n);
    }
  };
  const padded = Buffer.alloc(((message.length >>> 3) + 1) << 3);
  padded.set(message);
  padded[padded.length - 1] = message.length;
  for (let at = 0; at < padded.length; at += 8) {
    const word = padded.readBigUInt64LE(at);
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
  v2 ^= 0xffn;
  rounds(4);
  const result = Buffer.alloc(8);
  result.writeBigUInt64LE(v0 ^ v1 ^ v2 ^ v3);
  return result.toString('hex');
}

const counting = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i);

describe('sipHash()', () => {
  test('returns the published test results', () => {
    expect(hashOf(counting(16), counting(0))).toBe('310e0edd47db6f72');
    expect(hashOf(counting(16), counting(8))).toBe('6224939a79f5f593');
    // The test vector from appendix A of the SipHash publication.
    expect(hashOf(counting(16), counting(15))).toBe('e545be4961ca29a1');
  });

  test('gives the same results as an implementation with 64-bit integers', () => {
    const key = fc.uint8Array({ minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(key, fc.uint8Array({ maxLength: 40 }), (secret, message) => {
        expect(hashOf(secret, message)).toBe(plainHash(secret, message));
      }),
      { numRuns: 2000 },
    );
  });
});
