import { describe, expect, test } from '@jest/globals';
import { invalid, notActive, overloaded, setupCodeRequired, tooMany, unauthorized } from './api-error.ts';

describe('API errors', () => {
  test('invalid() lists all fields, and its message names each field that has a path', () => {
    const fields = [
      { path: 'name', message: 'too long' },
      { path: '', message: 'not an object' },
    ];
    expect(invalid(fields)).toMatchObject({ status: 400, message: 'name: too long; not an object', fields });
  });

  test('tooMany() sets Retry-After in whole seconds, at least one; overloaded() sets it to the given time', () => {
    const waits = [0, 0.2, 1.2].map(
      (secs) => tooMany('rate_limited', 'slow down', secs).headers['Retry-After'],
    );
    expect(waits).toEqual(['1', '1', '2']);
    expect(overloaded('busy', 3)).toMatchObject({ status: 503, headers: { 'Retry-After': '3' } });
  });

  test('unauthorized() sends a WWW-Authenticate challenge; setupCodeRequired() reports a missing or a wrong code', () => {
    expect(unauthorized('no session').headers).toHaveProperty('WWW-Authenticate');
    expect(setupCodeRequired(true).message).not.toBe(setupCodeRequired(false).message);
  });

  test('notActive() names the stored change and does not ask clients to retry', () => {
    const cause = new Error('secret');
    const error = notActive('no thread answers', 7, cause);
    expect(error).toMatchObject({ status: 503, code: 'not_in_force', stored: { revision: 7 }, cause });
    expect(error.message).not.toContain('secret');
    expect(error.headers).toEqual({});
  });
});
