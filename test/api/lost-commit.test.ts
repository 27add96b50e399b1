/**
 * A connection that is lost while the database stores a change: the response states that the change may be stored, or
 * is active.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asOwner } from '../support/parts/as-owner.ts';
import { startDatabase } from '../../control-plane/storage/db/database.ts';
import type { Database } from '../../control-plane/storage/db/database.ts';
import { everyRoute } from '../support/parts/every-route.ts';
import { MemoryLogger } from '../support/parts/memory-logger.ts';
import { RunningApi } from '../support/parts/running-api.ts';
import { startTestDatabase } from '../support/parts/test-database.ts';
import type { TestDatabase } from '../support/parts/test-database.ts';
import { CuttingProxy } from '../support/weir/cutting-proxy.ts';

let own: TestDatabase;
let proxy: CuttingProxy;
let database: Database;
let api: RunningApi;

beforeAll(async () => {
  own = await startTestDatabase();
  await asOwner(own.database, `CREATE ROLE tester LOGIN SUPERUSER PASSWORD 'secret'`);
});
beforeEach(async () => {
  proxy = await CuttingProxy.open(own.database);
  const urls = `postgres://tester:secret@127.0.0.1:${proxy.port}/postgres`;
  database = startDatabase({ urls, lock: own.lock, logger: new MemoryLogger() });
  await database.whenUp();
  api = await RunningApi.start(database, everyRoute());
});
afterEach(async () => {
  await api.close();
  await database.close();
  await proxy.close();
});
afterAll(() => own.stop());

describe('a change whose COMMIT gets no answer from the database', () => {
  test.each([
    ['before', 0],
    ['after', 1],
  ] as const)(
    'is 503 outcome_unknown if the connection is cut %s the server saw the COMMIT',
    async (cut, stored) => {
      proxy.cutNext(cut);
      const answer = await api.send('POST', '/api/groups', { json: { name: cut } });
      expect([answer.status, answer.problem.error]).toEqual([503, 'outcome_unknown']);
      expect(answer.problem.detail).toContain('check whether it was stored');
      // Without Retry-After, because a client that repeats the request would store the group twice.
      expect(answer.headers['retry-after']).toBeUndefined();
      // A stored change still becomes active.
      expect(api.policyChanges).toBe(1);
      await database.whenUp();
      const groups = (await api.send('GET', '/api/groups')).body as { name: string }[];
      expect(groups.filter(({ name }) => name === cut)).toHaveLength(stored);
    },
  );

  test('a change that is lost before its COMMIT gets 503, and can be sent again', async () => {
    await asOwner(
      own.database,
      `CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$`,
    );
    await asOwner(
      own.database,
      'CREATE TRIGGER die BEFORE INSERT ON groups FOR EACH ROW EXECUTE FUNCTION die()',
    );
    const answer = await api.send('POST', '/api/groups', { json: { name: 'early' } });
    await asOwner(own.database, 'DROP TRIGGER die ON groups');
    expect([answer.status, answer.problem.error]).toEqual([503, 'unavailable']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(api.policyChanges).toBe(0);
  });
});
