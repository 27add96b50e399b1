import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestDatabase, type TestDatabase } from '../../../../test/support/parts/test-database.ts';
import { until } from '../../../../test/support/parts/until.ts';
import * as users from './user-store.ts';

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());

test('holdPasswordHash() makes concurrent changes of the user wait until the transaction has ended', async () => {
  const { database } = own;
  const user = {
    username: 'vera',
    displayName: '',
    role: 'viewer',
    enabled: true,
    passwordHash: 'old',
  } as const;
  const { id } = await users.insertUser(database, user);
  const order: string[] = [];
  let changed: Promise<unknown> = Promise.resolve();
  await database.transaction(async (tx) => {
    expect(await users.holdPasswordHash(tx, id)).toBe('old');
    changed = users.updateUser(database, id, { passwordHash: 'new' }).then(() => order.push('changed'));
    // Wait until PostgreSQL reports that the change is blocked on a lock.
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE users%'`;
    const check = async (): Promise<number | null> => {
      await tx.query('SELECT pg_stat_clear_snapshot()');
      return (await tx.query(waiting)).rowCount;
    };
    await until('the change to wait for the lock', check);
    order.push('held');
  });
  await changed;
  expect(order).toEqual(['held', 'changed']);
  expect(await users.holdPasswordHash(database, id)).toBe('new');
});

test("holdPasswordHash() returns null for a disabled or deleted user, and '' for the administrator", async () => {
  const user = {
    username: 'otto',
    displayName: '',
    role: 'admin',
    enabled: false,
    passwordHash: 'x',
  } as const;
  const { id } = await users.insertUser(own.database, user);
  expect(await users.holdPasswordHash(own.database, id)).toBeNull();
  expect(await users.findLogin(own.database, 'otto')).toBeNull();
  await users.updateUser(own.database, id, { enabled: true });
  expect(await users.findLogin(own.database, 'otto')).toEqual({ id, username: 'otto', passwordHash: 'x' });
  await users.deleteUser(own.database, id);
  expect(await users.holdPasswordHash(own.database, id)).toBeNull();
  expect(await users.holdPasswordHash(own.database, users.ADMIN_USER_ID)).toBe('');
});

test('the users table rejects an administrator with a role other than admin', async () => {
  for (const change of [{ role: 'viewer' }, { enabled: false }, { passwordHash: 'x' }] as const)
    await expect(users.updateUser(own.database, users.ADMIN_USER_ID, change)).rejects.toThrow(
      'users_administrator_check',
    );
});
