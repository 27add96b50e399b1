import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { startTestDatabase, type TestDatabase } from '../../test/support/parts/test-database.ts';
import type { DatabaseStatus, LentClient } from '../storage/db/database.ts';
import { DatabaseUnavailable } from '../storage/db/database-errors.ts';
import { LogDatabase } from './log-database.ts';
import type { GivenDatabase } from './log-messages.ts';

const DOWN: GivenDatabase = { status: { state: 'down', server: 'test', error: 'away' }, target: null };

let own: TestDatabase;
let database: LogDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(() => {
  database = new LogDatabase(DOWN, new MemoryLogger(), () => Promise.resolve());
});
afterEach(() => database.close());
afterAll(() => own.stop());

const up = (): GivenDatabase =>
  structuredClone({ status: own.database.status(), target: own.database.target() });
const askPid = async (client: LentClient): Promise<number> =>
  (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]!.pid;

describe('LogDatabase', () => {
  test('uses one connection while the control plane reports the database as up', async () => {
    const states: DatabaseStatus['state'][] = [];
    database.onStatus(({ state }) => states.push(state));
    await expect(database.withClient(askPid)).rejects.toThrow(new DatabaseUnavailable('away'));
    database.use(up());
    const pids = await Promise.all([database.withClient(askPid), database.withClient(askPid)]);
    expect(pids[0]).toBe(pids[1]);
    database.use(DOWN);
    await expect(database.withClient(askPid)).rejects.toThrow(DatabaseUnavailable);
    expect([states, database.status().state]).toEqual([['up', 'down'], 'down']);
  });

  test('fails statements on a lost connection, and opens another connection for the next statement', async () => {
    database.use(up());
    const ended = database.withClient(async (client) => {
      const pid = await askPid(client);
      await own.database.query('SELECT pg_terminate_backend($1)', [pid]);
      return client.query('SELECT 1');
    });
    await expect(ended).rejects.toThrow(DatabaseUnavailable);
    expect(await database.withClient(askPid)).toBeGreaterThan(0);
  });

  test('fails running statements when the control plane reports the database as down', async () => {
    database.use(up());
    const { promise: hasBegun, resolve: begin } = Promise.withResolvers<undefined>();
    const hanging = database.withClient(async (client) => {
      await askPid(client);
      begin(undefined);
      return client.query('SELECT pg_sleep(300)');
    });
    await hasBegun;
    database.use(DOWN);
    await expect(hanging).rejects.toThrow(DatabaseUnavailable);
  });

  test('throws the error of a statement to the caller', async () => {
    database.use(up());
    await expect(database.withClient((client) => client.query('SELECT nothing'))).rejects.toThrow(
      'column "nothing" does not exist',
    );
  });
});
