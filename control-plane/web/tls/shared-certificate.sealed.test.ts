import { describe, expect, test } from '@jest/globals';
import { BrokenSeal, seal, unseal } from './shared-certificate.ts';

const SECRET = Buffer.alloc(32, 1);
const CLEAR = Buffer.from('a private key');

describe('unseal(), which decrypts the shared certificate key,', () => {
  test('returns the original text, which is encrypted differently each time', () => {
    const twice = [seal(SECRET, 'x', CLEAR), seal(SECRET, 'x', CLEAR)];
    expect(twice.map((sealed) => unseal(SECRET, 'x', sealed).toString())).toEqual([
      'a private key',
      'a private key',
    ]);
    expect(twice[0]!.equals(twice[1]!)).toBe(false);
    expect(twice[0]!.includes(CLEAR)).toBe(false);
  });

  test('rejects a different secret or purpose, and any changed or missing byte', () => {
    const sealed = seal(SECRET, 'x', CLEAR);
    expect(() => unseal(Buffer.alloc(32, 2), 'x', sealed)).toThrow(BrokenSeal);
    expect(() => unseal(SECRET, 'y', sealed)).toThrow(BrokenSeal);
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at]! ^= 1;
      expect(() => unseal(SECRET, 'x', changed)).toThrow(BrokenSeal);
      expect(() => unseal(SECRET, 'x', sealed.subarray(0, at))).toThrow(BrokenSeal);
    }
  });
});
