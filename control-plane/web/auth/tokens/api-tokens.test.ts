import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../../test/support/parts/as-owner.ts';
import { TestClock } from '../../../../test/support/parts/test-clock.ts';
import { type TestDatabase, startTestDatabase } from '../../../../test/support/parts/test-database.ts';
import { SYSTEM } from '../../../api/caller.ts';
import { DatabaseUnavailable, OutcomeUnknown } from '../../../storage/db/database-errors.ts';
import type { Database, Queryable } from '../../../storage/db/database.ts';
import { ApiTokens } from './api-tokens.ts';
import { hashTokenKey } from './token-key.ts';
import { TokenMemory } from './token-memory.ts';

let own: TestDatabase;
let clock: TestClock;
let isAway: boolean;
let isSilent: boolean;
/** Number of statements that the database received. */
let questions: number;
/** Statements to the database wait for this promise. */
let gate: Promise<unknown>;
let database: Database;
let tokens: ApiTokens;

beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(async () => {
  await asOwner(own.database, 'TRUNCATE api_tokens CASCADE');
  clock = new TestClock();
  isAway = isSilent = false;
  questions = 0;
  gate = Promise.resolve();
  database = Object.assign(Object.create(own.database) as Database, {
    query: async (text: string, values?: readonly unknown[]) => {
      questions++;
      if (isAway) throw new DatabaseUnavailable('away');
      const result = await own.database.query(text, values);
      await gate;
      return result;
    },
    transaction: async <T>(work: (tx: Queryable) => Promise<T>) => {
      if (isSilent) throw new OutcomeUnknown('silent');
      return own.database.transaction(work);
    },
  });
  tokens = new ApiTokens({ database, clock, sessions: { remove: () => undefined } });
});
afterAll(() => own.stop());

const make = async (name = 'a'): Promise<{ id: number; key: string }> => {
  const { token, key } = await tokens.create(SYSTEM, { name, role: 'viewer' });
  return { id: token.id, key };
};

describe('TokenMemory, API tokens cached by this node,', () => {
  test('queries the database at most twice a second, for any number of wrong keys', async () => {
    const { key } = await make();
    const wrong = (n: number): Promise<unknown> =>
      tokens.callerOf(`wrong key number ${n}`.replaceAll(' ', '-'));
    await tokens.callerOf(key);
    questions = 0;
    clock.advance(500);
    expect(await Promise.all(Array.from({ length: 100 }, (_, n) => wrong(n)))).toEqual(Array(100).fill(null));
    clock.advance(499);
    await wrong(1);
    await tokens.callerOf(key);
    expect(questions).toBe(1);
    await tokens.callerOf('not a valid key');
    expect(questions).toBe(1);
  });

  test('accepts only tokens read before the database became unavailable, for ten minutes', async () => {
    const { key } = await make();
    const caller = await tokens.callerOf(key);
    isAway = true;
    clock.advance(10 * 60_000 - 1);
    expect(await tokens.callerOf(key)).toEqual(caller);
    expect(await tokens.callerOf(`${key}x`)).toBeNull();
    clock.advance(2);
    await expect(tokens.callerOf(key)).rejects.toThrow(DatabaseUnavailable);
    isAway = false;
    expect(await tokens.callerOf(key)).toEqual(caller);
  });

  test('does not accept a cached token after the machine was suspended for long', async () => {
    const { key } = await make();
    let asleepMs = 0;
    const memory = new TokenMemory(database, {
      nowMs: () => clock.nowMs() + asleepMs,
      monotonicMs: () => clock.monotonicMs(),
      bootMs: () => clock.monotonicMs() + asleepMs,
    });
    expect(await memory.find(hashTokenKey(key))).not.toBeNull();
    isAway = true;
    clock.advance(1000);
    asleepMs = 9 * 60_000;
    expect(await memory.find(hashTokenKey(key))).not.toBeNull();
    asleepMs += 60_000;
    await expect(memory.find(hashTokenKey(key))).rejects.toThrow(DatabaseUnavailable);
  });

  test('throws DatabaseUnavailable if no tokens have been read yet', async () => {
    isAway = true;
    await expect(tokens.callerOf('x'.repeat(20))).rejects.toThrow(DatabaseUnavailable);
  });

  test('does not accept a token that was or may have been revoked, even if the database is unavailable', async () => {
    const [gone, doubtful, other] = [await make('a'), await make('b'), await make('c')];
    for (const { key } of [gone, doubtful, other]) expect(await tokens.callerOf(key)).not.toBeNull();
    await tokens.remove(SYSTEM, gone.id);
    isSilent = true;
    await expect(tokens.remove(SYSTEM, doubtful.id)).rejects.toThrow(OutcomeUnknown);
    isAway = true;
    expect(await tokens.callerOf(gone.key)).toBeNull();
    expect(await tokens.callerOf(doubtful.key)).toBeNull();
    expect(await tokens.callerOf(other.key)).not.toBeNull();
    isAway = false;
    expect(await tokens.callerOf(doubtful.key)).not.toBeNull();
  });

  test('reads the tokens again if a token was revoked during the read', async () => {
    const { id, key } = await make();
    const memory = new TokenMemory(database, clock);
    let open = (): void => undefined;
    gate = new Promise<void>((resolve) => (open = resolve));
    const found = memory.find(hashTokenKey(key));
    await own.database.query('DELETE FROM api_tokens WHERE id = $1', [id]);
    memory.remove(id);
    open();
    expect(await found).toBeNull();
  });
});
