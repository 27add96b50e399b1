import { describe, expect, test } from '@jest/globals';
import { clientOfToken, profileToken, tokenEnd } from './profile-token.ts';

const SECRET = Buffer.alloc(32, 1);
const NOW = Date.UTC(2026, 0, 15, 12, 3);
const keyOf = (id: number): string | null => (id === 7 ? 'anna' : id === 8 ? 'ben' : null);

describe('clientOfToken(), the client of a link to a phone profile,', () => {
  const token = profileToken(SECRET, 7, 'anna', tokenEnd(NOW));

  test('returns the client for at least an hour', () => {
    expect(clientOfToken(SECRET, token, keyOf, NOW)).toBe(7);
    expect(clientOfToken(SECRET, token, keyOf, NOW + 3_600_000)).toBe(7);
    expect(clientOfToken(SECRET, token, keyOf, tokenEnd(NOW))).toBeNull();
  });

  test('rejects a token after the key was changed, or with a wrong secret or client', () => {
    expect(clientOfToken(SECRET, token, () => 'other', NOW)).toBeNull();
    expect(clientOfToken(SECRET, token, () => null, NOW)).toBeNull();
    expect(clientOfToken(Buffer.alloc(32, 2), token, keyOf, NOW)).toBeNull();
    const bytes = Buffer.from(token, 'base64url');
    bytes.writeUInt32BE(8, 0);
    expect(clientOfToken(SECRET, bytes.toString('base64url'), keyOf, NOW)).toBeNull();
  });

  test('rejects each token with one changed bit', () => {
    const bytes = Buffer.from(token, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(clientOfToken(SECRET, changed.toString('base64url'), () => 'anna', NOW)).toBeNull();
    }
  });

  test.each(['', 'x', `${token}=`, `${token}A`, ` ${token}`, 'A'.repeat(200)])('rejects %j', (text) => {
    expect(clientOfToken(SECRET, text, keyOf, NOW)).toBeNull();
  });
});

test('tokenEnd() stays the same for some minutes, so that a QR code does not change while it is scanned', () => {
  expect(tokenEnd(NOW)).toBe(Date.UTC(2026, 0, 15, 13, 10));
  expect(tokenEnd(NOW + 240_000)).toBe(tokenEnd(NOW));
});
