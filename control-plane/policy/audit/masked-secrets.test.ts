import { describe, expect, test } from '@jest/globals';
import { withoutSecrets } from './masked-secrets.ts';

describe('withoutSecrets()', () => {
  test.each([
    ['password'],
    ['password_hash'],
    ['current_password'],
    ['secret_hash'],
    ['totp_secret'],
    ['token'],
    ['token_hash'],
    ['app_password'],
    ['api_key'],
    ['private_key'],
  ])('masks the field %s, at any depth', (field) => {
    const masked = withoutSecrets({ row: [{ [field]: 'hunter2', id: 7 }] });
    expect(masked).toEqual({ row: [{ [field]: '***', id: 7 }] });
    expect(withoutSecrets({ [field]: { inner: 'hunter2' } })).toEqual({ [field]: '***' });
  });

  test.each([
    ['$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA', '***'],
    ['-----BEGIN EC PRIVATE KEY-----\nMHcCAQ', '***'],
    ['https://me:hunter2@lists.example/ads.txt', 'https://***@lists.example/ads.txt'],
    ['https://lists.example/?token=hunter2&a=1', 'https://lists.example/?token=***&a=1'],
    ['postgres://weir:hunter2@db.example/weir', 'postgres://***@db.example/weir'],
  ])('masks secrets in the text %s', (text, shown) => {
    expect(withoutSecrets({ value: text })).toEqual({ value: shown });
    expect(withoutSecrets([text])).toEqual([shown]);
  });

  test('leaves values without secrets unchanged', () => {
    const row = {
      id: 3,
      content_key: 'a1b2',
      key: 'dns.pools',
      password_configured: true,
      token_id: 4,
      password: null,
      pattern: '^ads://.*@',
      url: 'https://lists.example/ads.txt',
      domains: ['a.example', '*.b.example'],
      __proto__: null,
    };
    expect(withoutSecrets(row)).toEqual({ ...row });
    expect(withoutSecrets({ at: new Date(0) })).toEqual({ at: '1970-01-01T00:00:00.000Z' });
    expect(withoutSecrets(null)).toBeNull();
  });
});
