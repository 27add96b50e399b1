/**
 * The API while its database is unreachable: requests that need the database get 503, all other requests still work.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockDataDir } from '../../control-plane/storage/db/data-dir-lock.ts';
import { startDatabase } from '../../control-plane/storage/db/database.ts';
import type { Database } from '../../control-plane/storage/db/database.ts';
import { Health } from '../../shared/api/system-api.ts';
import { everyRoute } from '../support/parts/every-route.ts';
import { MemoryLogger } from '../support/parts/memory-logger.ts';
import { PASSWORD, RunningApi } from '../support/parts/running-api.ts';
import type { TestAnswer } from '../support/parts/running-api.ts';
import { openSuiteDatabase } from '../support/parts/suite-database.ts';

function expectUnavailable(answer: TestAnswer): void {
  expect([answer.status, answer.problem.error]).toEqual([503, 'unavailable']);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
}

describe('with a database that was never reachable', () => {
  let folder: string;
  let lock: ReturnType<typeof lockDataDir>;
  let database: Database;
  let api: RunningApi;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-api-'));
    lock = lockDataDir(folder);
    // Nothing listens on port 9 of the loopback.
    database = startDatabase({
      urls: 'postgres://weir@127.0.0.1:9/weir',
      lock,
      logger: new MemoryLogger(),
    });
    api = await RunningApi.start(database, everyRoute(), { toml: '' });
  });
  afterAll(async () => {
    await api.close();
    await database.close();
    lock.release();
    await rm(folder, { recursive: true, force: true });
  });

  test('health is 200 and degraded, without waiting', async () => {
    const answer = await api.send('GET', '/api/health');
    expect(answer.status).toBe(200);
    expect(Health.parse(answer.body)).toMatchObject({
      status: 'degraded',
      checks: { database: { status: 'down' } },
    });
  });

  test('auth/status returns the known state', async () => {
    const status = async (): Promise<unknown> => {
      const answer = await api.send('GET', '/api/auth/status', { session: 'A'.repeat(43) });
      return { status: answer.status, ...(answer.body as object) };
    };
    const known = { status: 200, enabled: true, session: null, setup_code_file: null };
    expect(await status()).toEqual({ ...known, password_configured: null, setup_required: null });
  });

  test('setup and login are 503 with Retry-After', async () => {
    expectUnavailable(await api.send('POST', '/api/auth/setup', { json: { password: PASSWORD } }));
    const json = { username: 'admin', password: PASSWORD };
    expectUnavailable(await api.send('POST', '/api/auth/login', { json }));
  });

  test('requests without a session are 401, and requests with an unknown session 503', async () => {
    expect((await api.send('GET', '/api/groups')).status).toBe(401);
    expectUnavailable(await api.send('GET', '/api/groups', { session: 'A'.repeat(43) }));
  });

  test('with authentication disabled, reads from memory succeed, and reads from the database get 503', async () => {
    const open = await RunningApi.start(database, everyRoute());
    expect((await open.send('GET', '/api/config')).status).toBe(200);
    expect((await open.send('GET', '/api/stats/rate')).status).toBe(200);
    expectUnavailable(await open.send('GET', '/api/groups'));
    expectUnavailable(await open.send('POST', '/api/groups', { json: { name: 'Kids' } }));
    await open.close();
  });

  test('a 503 response contains the reason, but not the address of the database', async () => {
    const answer = await api.send('POST', '/api/auth/setup', { json: { password: PASSWORD } });
    expect(answer.problem.detail).toBe('the database is not available: it cannot be reached');
  });

  test('invalid input is still 400, and no response contains the address of the database', async () => {
    expect((await api.send('POST', '/api/auth/login', { json: {} })).status).toBe(400);
    expect((await api.send('GET', '/api/auth/status')).text).not.toMatch(/127\.0\.0\.1|ECONNREFUSED/);
  });
});

describe('with a database that has become unreachable', () => {
  test('logged-in users can read from memory for a limited time', async () => {
    const suite = await openSuiteDatabase();
    const api = await RunningApi.start(suite.database, everyRoute(), { toml: '' });
    await api.setUp();
    const session = await api.logIn();
    await suite.close();

    expect((await api.send('GET', '/api/config', { session })).status).toBe(200);
    const { body } = await api.send('GET', '/api/auth/status', { session });
    expect(body).toMatchObject({ password_configured: true, session: { username: 'admin', role: 'admin' } });
    expectUnavailable(await api.send('GET', '/api/groups', { session }));
    expectUnavailable(await api.send('GET', '/api/config', { session: 'A'.repeat(43) }));
    api.clock.advanceSecs(601);
    expectUnavailable(await api.send('GET', '/api/config', { session }));
    await api.close();
  });
});
