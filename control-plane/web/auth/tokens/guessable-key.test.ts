import { expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { refuseGuessable } from './guessable-key.ts';

test.each(['administratorpassword1', 'Welcome-Password-2026', 'princess.football_99'])(
  'refuseGuessable() rejects %j, which consists of common passwords',
  async (key) => {
    await expect(refuseGuessable(key)).rejects.toMatchObject({ status: 400, fields: [{ path: 'key' }] });
  },
);

test.each(['hex', 'base64url'] as const)('refuseGuessable() accepts random keys in %s', async (encoding) => {
  for (let n = 0; n < 200; n++) await refuseGuessable(randomBytes(16).toString(encoding));
});

test('refuseGuessable() accepts four words and more', async () => {
  await refuseGuessable('correct-horse-battery-dragon-7');
});
