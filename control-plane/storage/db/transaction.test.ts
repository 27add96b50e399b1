import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { CuttingProxy } from '../../../test/support/weir/cutting-proxy.ts';
import { DatabaseUnavailable, OutcomeUnknown } from './database-errors.ts';
import { startDatabase } from './database.ts';
import type { Database } from './database.ts';

let own: TestDatabase;
let proxy: CuttingProxy;
/** The database, which is connected through the proxy. */
let database: Database;

beforeAll(async () => {
  own = await startTestDatabase();
  await asOwner(own.database, `CREATE ROLE tester LOGIN SUPERUSER PASSWORD 'secret'`);
  await asOwner(own.database, 'CREATE TABLE things (name text PRIMARY KEY DEFERRABLE INITIALLY DEFERRED)');
});
beforeEach(async () => {
  proxy = await CuttingProxy.open(own.database);
  const urls = `postgres://tester:secret@127.0.0.1:${proxy.port}/postgres`;
  database = startDatabase({ urls, lock: own.lock, logger: new MemoryLogger() });
  await database.whenUp();
});
afterEach(async () => {
  await database.close();
  await proxy.close();
});
afterAll(() => own.stop());

function insert(name: string): Promise<unknown> {
  return database.transaction((tx) => tx.query('INSERT INTO things VALUES ($1)', [name]));
}

async function hasThing(name: string): Promise<boolean> {
  return (await own.database.query('SELECT 1 FROM things WHERE name = $1', [name])).rows.length > 0;
}

describe('inTransaction()', () => {
  test.each([
    ['before', false],
    ['after', true],
  ] as const)(
    'reports an unknown outcome of a COMMIT whose connection is closed %s the server received it',
    async (cut, isStored) => {
      proxy.cutNext(cut);
      await expect(insert(cut)).rejects.toBeInstanceOf(OutcomeUnknown);
      await database.whenUp();
      expect(await hasThing(cut)).toBe(isStored);
      await insert(`${cut}-again`);
      expect(await hasThing(`${cut}-again`)).toBe(true);
    },
  );

  test('reports that nothing is stored if the connection is lost before COMMIT', async () => {
    const failing = database.transaction(async (tx) => {
      await tx.query(`INSERT INTO things VALUES ('early')`);
      await tx.query('SELECT pg_terminate_backend(pg_backend_pid())');
    });
    const error: unknown = await failing.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DatabaseUnavailable);
    expect(error).not.toBeInstanceOf(OutcomeUnknown);
    expect(await hasThing('early')).toBe(false);
  });

  test('throws the error if the server refuses to commit', async () => {
    await insert('twice');
    await expect(insert('twice')).rejects.toMatchObject({ code: '23505' });
    await insert('once');
  });
});
