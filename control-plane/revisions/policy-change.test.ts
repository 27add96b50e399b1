import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MemoryLogger } from '../../test/support/memory-logger.ts';
import { startTestDatabase } from '../../test/support/test-database.ts';
import type { TestDatabase } from '../../test/support/test-database.ts';
import { DatabaseBusy } from '../db/database-errors.ts';
import { startDatabase } from '../db/database.ts';
import type { Database } from '../db/database.ts';
import { changePolicy } from './policy-change.ts';

let own: TestDatabase;
let database: Database;
beforeAll(async () => {
  own = await startTestDatabase();
  await own.database.query(`CREATE ROLE tester LOGIN SUPERUSER PASSWORD 'secret'`);
  const { rows } = await own.database.query<{ dir: string }>(
    `SELECT setting AS dir FROM pg_settings WHERE name = 'unix_socket_directories'`,
  );
  database = startDatabase({
    urls: `postgres://tester:secret@localhost/postgres?host=${encodeURIComponent(rows[0]!.dir)}`,
    lock: own.lock,
    logger: new MemoryLogger(),
    waitMs: 500,
  });
  await database.whenUp();
});
afterAll(async () => {
  await database.close();
  await own.stop();
});

const change = (): Promise<number> =>
  changePolicy(database, 'somebody', () => Promise.resolve({ result: 1, summary: 'nothing much' }));

describe('changePolicy()', () => {
  test('changePolicy() waits for a change elsewhere beside everybody else, and says busy after a while', async () => {
    const states: string[] = [];
    const stop = database.onStatus(({ state }) => states.push(state));
    const elsewhere = Promise.withResolvers<undefined>();
    const isHeld = Promise.withResolvers<undefined>();
    const other = changePolicy(own.database, 'another node', async () => {
      isHeld.resolve(undefined);
      await elsewhere.promise;
      return { result: undefined, summary: null };
    });
    await isHeld.promise;
    const changes = Array.from({ length: 12 }, () => change().catch((error: unknown) => error));
    // Answered while all of them wait.
    expect((await database.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
    for (const outcome of await Promise.all(changes)) expect(outcome).toBeInstanceOf(DatabaseBusy);
    elsewhere.resolve(undefined);
    await other;
    expect(await change()).toBe(1);
    expect(states).toEqual([]);
    stop();
  });
});
