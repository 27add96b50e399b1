import { expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { estimatedBits } from './key-entropy.ts';

test.each([
  'aaaaaaaaaaaaaaaaabcdefgh',
  'abcdefghijklmnopqrstuvwxyz',
  '12345678901234567890',
  'passwordpasswordpassword',
  'admin-admin-admin-admin',
  '',
])('estimatedBits() is below 30 for %j, which is easy to guess', (key) => {
  expect(estimatedBits(key)).toBeLessThan(30);
});

test.each(['hex', 'base64url'] as const)('estimatedBits() is high for random keys in %s', (encoding) => {
  const bits = Array.from({ length: 100 }, () => estimatedBits(randomBytes(16).toString(encoding)));
  expect(Math.min(...bits)).toBeGreaterThan(48);
});
