import { describe, expect, test } from '@jest/globals';
import { LoginBody, SecondFactorProof } from './auth-api.ts';

const fits = (schema: typeof LoginBody | typeof SecondFactorProof, value: object): boolean =>
  schema.safeParse(value).success;

describe('LoginBody, the body of a login,', () => {
  const login = { username: 'admin', password: 'x' };

  test.each<[object, boolean]>([
    [{}, true],
    [{ totp_code: '123456' }, true],
    [{ totp_code: '123 456' }, true],
    [{ totp_code: '12345' }, false],
    [{ totp_code: '1234567' }, false],
    [{ totp_code: 'abcdef' }, false],
    [{ totp_code: 123456 }, false],
    [{ recovery_code: 'abcd-efgh-jkmn-pqrs' }, true],
    [{ recovery_code: '' }, false],
    [{ recovery_code: 'x'.repeat(65) }, false],
    [{ code: '123456' }, false],
  ])('with %j is accepted: %p', (more, is) => {
    expect(fits(LoginBody, { ...login, ...more })).toBe(is);
  });
});

describe('SecondFactorProof, the proof for changing a second factor,', () => {
  test.each<[object, boolean]>([
    [{ password: 'x' }, true],
    [{ totp_code: '123456' }, true],
    [{ recovery_code: 'x' }, true],
    [{}, false],
    [{ password: 'x', totp_code: '123456' }, false],
    [{ password: undefined }, false],
  ])('of %j is accepted: %p', (proof, is) => {
    expect(fits(SecondFactorProof, proof)).toBe(is);
  });
});
