import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../../test/support/parts/as-owner.ts';
import { MemoryLogger } from '../../../../test/support/parts/memory-logger.ts';
import { TestClock } from '../../../../test/support/parts/test-clock.ts';
import { startTestDatabase, type TestDatabase } from '../../../../test/support/parts/test-database.ts';
import { unauthorized } from '../../../api/api-error.ts';
import { SYSTEM } from '../../../api/caller.ts';
import { deleteSessionsOfUser } from './session-store.ts';
import { Sessions, type WantedSession } from './sessions.ts';

const HERE = { address: '192.0.2.7', userAgent: 'Test/1' };
const USER_ID = 2;

let own: TestDatabase;
let clock: TestClock;
let sessions: Sessions;
beforeAll(async () => {
  own = await startTestDatabase();
  await own.database.query(`INSERT INTO users (id, username, role) VALUES (${USER_ID}, 'vera', 'viewer')`);
  await own.database.query(
    `INSERT INTO api_tokens (id, name, key_hash, prefix, role) VALUES (5, 'phone', '\\x00', 'weir_', 'admin')`,
  );
});
beforeEach(async () => {
  await asOwner(own.database, 'TRUNCATE sessions');
  clock = new TestClock();
  const { database } = own;
  sessions = new Sessions({ database, clock, logger: new MemoryLogger(), adminName: () => 'root' });
});
afterAll(() => own.stop());

async function open(change: Partial<WantedSession> = {}): Promise<string> {
  const owner = { userId: USER_ID, tokenId: null };
  const wanted = { owner, rememberMe: false, idleSecs: null, lifeMs: 1000, confirm: async () => undefined };
  return (await sessions.open({ ...wanted, ...change }, HERE)).secret;
}

describe('Sessions, stored in the database,', () => {
  test('of() returns the owner of a session with the current role', async () => {
    const secrets = [
      await open(),
      await open({ owner: { userId: 1, tokenId: null } }),
      await open({ owner: { userId: null, tokenId: 5 } }),
    ];
    const callers = await Promise.all(secrets.map(async (secret) => (await sessions.of([secret]))!.caller));
    expect(callers).toEqual([
      {
        username: 'vera',
        role: 'viewer',
        userId: 2,
        tokenId: null,
        sessionId: expect.any(Number),
        clientIds: null,
      },
      {
        username: 'root',
        role: 'admin',
        userId: 1,
        tokenId: null,
        sessionId: expect.any(Number),
        clientIds: null,
      },
      {
        username: 'token phone',
        role: 'admin',
        userId: null,
        tokenId: 5,
        sessionId: expect.any(Number),
        clientIds: null,
      },
    ]);
    await own.database.query(`UPDATE api_tokens SET role = 'viewer'`);
    expect((await sessions.of([secrets[2]!]))!.caller.role).toBe('viewer');
  });

  test('of() uses the first valid secret of several', async () => {
    const [first, second] = [await open({ lifeMs: 10 }), await open()];
    clock.advance(10);
    expect((await sessions.of(['unknown', first, second]))!.secret).toBe(second);
    expect(await sessions.of([])).toBeNull();
  });

  test("open() stores no session if the confirmation of the user's rights fails", async () => {
    const confirm = () => Promise.reject(unauthorized('too late'));
    await expect(open({ confirm })).rejects.toMatchObject({ status: 401 });
    expect(await sessions.list()).toEqual([]);
  });

  test('mayHaveEnded() notifies listeners', () => {
    let ends = 0;
    sessions.onEnded(() => ends++);
    sessions.mayHaveEnded();
    expect(ends).toBe(1);
  });

  test('remove() notifies listeners, and revoke() ends one session', async () => {
    let ends = 0;
    const stop = sessions.onEnded(() => ends++);
    const [first, second] = [await open(), await open()];
    const { sessionId } = (await sessions.of([first]))!.caller;
    await sessions.revoke(SYSTEM, sessionId!);
    expect([ends, await sessions.of([first])]).toEqual([1, null]);
    await expect(sessions.revoke(SYSTEM, sessionId!)).rejects.toMatchObject({ status: 404 });
    await own.database.transaction((tx) => deleteSessionsOfUser(tx, USER_ID));
    sessions.remove(({ userId }) => userId === USER_ID);
    expect([ends, await sessions.of([second])]).toEqual([3, null]);
    stop();
    await sessions.endOf(second);
    expect(ends).toBe(3);
  });

  test('removeExpired() waits until the clock has not been set for some time', async () => {
    await open();
    expect(await sessions.removeExpired()).toBe(false);
    clock.advance(6 * 3_600_000);
    expect(await sessions.removeExpired()).toBe(true);
    expect((await own.database.query('SELECT 1 FROM sessions')).rows).toEqual([]);
  });
});
