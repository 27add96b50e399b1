import { describe, expect, test } from '@jest/globals';
import { codeOfStep, isUnused, newTotpSecret, otpauthUri, stepAt, stepOfCode, toBase32 } from './totp.ts';

/** The secret of the examples of RFC 6238, appendix B, and of RFC 4226, appendix D. */
const SECRET = Buffer.from('12345678901234567890');

describe('codeOfStep(), the TOTP code of a time step,', () => {
  test.each([
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ])('returns the code of RFC 6238 for second %d', (secs, code) => {
    expect(codeOfStep(SECRET, stepAt(secs * 1000), 8)).toBe(code);
    expect(codeOfStep(SECRET, stepAt(secs * 1000))).toBe(code.slice(2));
  });

  test('returns the codes of RFC 4226', () => {
    const codes = Array.from({ length: 10 }, (_, step) => codeOfStep(SECRET, step));
    expect(codes).toEqual('755224 287082 359152 969429 338314 254676 287922 162583 399871 520489'.split(' '));
  });
});

describe('stepOfCode(), which checks a TOTP code,', () => {
  test('accepts the current code and the codes one step before and after it', () => {
    const nowMs = 1_700_000_012_345;
    const now = stepAt(nowMs);
    const taken = [-2, -1, 0, 1, 2].map((ahead) =>
      stepOfCode(SECRET, codeOfStep(SECRET, now + ahead), nowMs),
    );
    expect(taken).toEqual([null, now - 1, now, now + 1, null]);
  });

  test.each(['', '1', '12345', '1234567', 'abcdef', '１２３４５６', '-12345'])('rejects %j', (code) => {
    expect(stepOfCode(SECRET, code, 0)).toBeNull();
  });
});

describe("isUnused(), whether a code's step is after the last used step,", () => {
  const nowMs = 1_700_000_000_000;
  const now = stepAt(nowMs);
  test.each<[number, number | null, boolean]>([
    [now, null, true],
    [now, now - 1, true],
    [now, now, false],
    [now - 1, now, false],
    [now, now + 1, false],
    [now, now + 2, true],
  ])('for step %d after step %p is %p', (step, last, is) => {
    expect(isUnused(step, last, nowMs)).toBe(is);
  });
});

describe('toBase32()', () => {
  test.each([
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ])('encodes %j as in RFC 4648, without padding', (text, written) => {
    expect(toBase32(Buffer.from(text))).toBe(written);
  });
});

describe('otpauthUri(), the content of the QR code for TOTP,', () => {
  test('contains all parameters that an authenticator app needs, for any user name', () => {
    const secret = newTotpSecret();
    const uri = new URL(otpauthUri(secret, 'a b&c/é?'));
    expect([uri.protocol, uri.host, decodeURIComponent(uri.pathname)]).toEqual([
      'otpauth:',
      'totp',
      '/Weir:a b&c/é?',
    ]);
    expect(Object.fromEntries(uri.searchParams)).toEqual({
      secret: toBase32(secret),
      issuer: 'Weir',
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
    expect(secret).toHaveLength(20);
  });
});
