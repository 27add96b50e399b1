import { expect, test } from '@jest/globals';
import { refuseWeak, weaknessOf } from './weak-password.ts';

test.each(['password', 'Football', '1QAZ2WSX', ' iloveyou ', 'ｐａｓｓｗｏｒｄ', 'pass\u200bword'])(
  'weaknessOf() rejects the common password %j',
  async (password) => {
    expect(await weaknessOf(password, 'admin')).toContain('most common');
  },
);

test.each([
  ['caretaker', 'caretaker'],
  ['Jürgen-Maier', 'ju\u0308rgen-maier'],
  ['GROSSMANN', 'großmann'],
])('weaknessOf() rejects %j for the user %j', async (password, username) => {
  expect(await weaknessOf(password, username)).toBe('expected a password other than the user name');
});

test('weaknessOf() accepts several words, and the name of another user', async () => {
  expect(await weaknessOf('correct horse battery staple', 'admin')).toBeUndefined();
  expect(await weaknessOf('caretaker-17', 'caretaker')).toBeUndefined();
});

test('refuseWeak() reports the field that contained the password', async () => {
  await expect(refuseWeak('12345678', 'admin', 'new_password')).rejects.toMatchObject({
    status: 400,
    fields: [{ path: 'new_password' }],
  });
});
