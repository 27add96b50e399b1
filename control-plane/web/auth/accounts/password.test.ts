import { availableParallelism } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../api/api-error.ts';
import { hashPassword, verifyPassword } from './password.ts';

describe('hashPassword()', () => {
  test('returns an Argon2id hash with 32 MiB, three passes and a new salt', async () => {
    const [one, two] = [await hashPassword('secret word'), await hashPassword('secret word')];
    expect(one).toMatch(/^\$argon2id\$v=19\$m=32768,(?:t=3,p=1|p=1,t=3)\$/);
    expect(one).not.toBe(two);
  });

  test('rejects with 429 when there are too many concurrent requests, and accepts requests later', async () => {
    const results = await Promise.allSettled(Array.from({ length: 40 }, () => hashPassword('x'.repeat(8))));
    const refused = results.filter((result) => result.status === 'rejected');
    // Two hashes run (one on a single core), and 32 wait.
    expect(refused).toHaveLength(40 - 32 - Math.min(2, availableParallelism()));
    for (const { reason } of refused) {
      expect(reason).toBeInstanceOf(ApiError);
      expect(reason).toMatchObject({ status: 429, code: 'busy' });
    }
    expect(await hashPassword('afterwards')).toMatch(/^\$argon2id\$/);
  });
});

describe('verifyPassword()', () => {
  test('accepts the password only if every character is correct', async () => {
    const password = 'pässwörd \u{1f512}\0 end';
    const hash = await hashPassword(password);
    expect(await verifyPassword(hash, password)).toBe(true);
    expect(await verifyPassword(hash, `${password}.`)).toBe(false);
    expect(await verifyPassword(hash, 'pässwörd \u{1f512}')).toBe(false);
  });

  test('checks waiting passwords in order of rank, and rejects the highest rank when too many wait', async () => {
    const hash = await hashPassword('secret');
    const done: number[] = [];
    const check = async (rank: number): Promise<void> => {
      await verifyPassword(hash, 'secret', rank);
      done.push(rank);
    };
    const running = Math.min(2, availableParallelism());
    const flood = Array.from({ length: 32 + running }, () => check(5));
    const owner = check(0);
    const results = await Promise.allSettled(flood);
    await owner;
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(done).toHaveLength(32 + running);
    // Only hashes that already ran, or that started at the same time, may end earlier.
    expect(done.indexOf(0)).toBeLessThanOrEqual(2 * running);
  });

  test.each([
    '',
    'plain text',
    '$argon2id$',
    '$argon2id$v=19$m=1,t=1,p=1$AAAA$',
    '$2b$10$abcdefghijklmnopqrstuv',
  ])('returns false for the invalid hash %j', async (hash) =>
    expect(await verifyPassword(hash, 'secret')).toBe(false),
  );
});
