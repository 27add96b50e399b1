import { describe, expect, test } from '@jest/globals';
import { CompatError, CompatSession } from './compat-api.ts';

const error = { key: 'not_found', message: 'Not found', hint: null };
const none = { valid: false, totp: false, sid: null, validity: -1, message: 'no SID provided' };

describe('CompatError and CompatSession', () => {
  test('CompatError rejects unknown and missing members', () => {
    expect(CompatError.safeParse({ error, took: 0 }).success).toBe(true);
    for (const body of [{ error }, { error: { ...error, code: 1 }, took: 0 }, { error, took: 0, more: 1 }])
      expect(CompatError.safeParse(body).success).toBe(false);
  });

  test('CompatSession accepts valid sessions with a CSRF token, and rejects valid sessions without it', () => {
    const valid = { ...none, valid: true, sid: 'a', csrf: 'b', validity: 1 };
    for (const session of [none, { ...none, valid: true }, valid])
      expect(CompatSession.safeParse({ session, took: 0 }).success).toBe(true);
    for (const session of [
      { ...valid, csrf: '' },
      { ...valid, validity: 0 },
      { ...none, sid: 'a' },
    ])
      expect(CompatSession.safeParse({ session, took: 0 }).success).toBe(false);
  });
});
