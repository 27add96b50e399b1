/**
 * Tests new connections that PostgreSQL or TLS refuses while other connections are open.
 *
 * @needs openssl
 */
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { join } from 'node:path';
import { TestAuthority } from '../../../test/support/dns/certificates.ts';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { type TestDatabase, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import { until } from '../../../test/support/parts/until.ts';
import { TlsGate } from '../../../test/support/weir/tls-gate.ts';
import { databaseCheck } from '../../node/system/node-health.ts';
import { ConnectionRefused, type DatabaseUnavailable } from './database-errors.ts';
import { type Database, startDatabase } from './database.ts';
import { OpenPool } from './open-pool.ts';

let own: TestDatabase;
let authority: TestAuthority;
let url: string;
const opened: Database[] = [];
beforeAll(async () => {
  authority = new TestAuthority();
  own = await startTestDatabase();
  await asOwner(own.database, `CREATE ROLE tester LOGIN SUPERUSER PASSWORD 'secret'`);
  await asOwner(own.database, `CREATE ROLE limited LOGIN PASSWORD 'secret' CONNECTION LIMIT 2`);
  await asOwner(own.database, 'GRANT weir TO limited');
  const { rows } = await asOwner<{ folder: string }>(
    own.database,
    `SELECT current_setting('unix_socket_directories') AS folder`,
  );
  url = `postgres://tester:secret@localhost:5432/postgres?host=${encodeURIComponent(rows[0]!.folder)}`;
});
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close();
});
afterAll(async () => {
  await own.stop();
  authority.close();
});

async function open(urls: string): Promise<Database> {
  const database = startDatabase({ urls, lock: own.lock, logger: new MemoryLogger(), poolSize: 4 });
  opened.push(database);
  await database.whenUp();
  return database;
}

/** The error of a statement that needs a second connection. */
async function refusalWhileHeld(database: Database): Promise<unknown> {
  return database.withClient(() => database.query('SELECT 1').catch((error: unknown) => error));
}

const checked = (database: Database) => databaseCheck(database, null);

test('OpenPool replaces a connection in continuous use after five minutes', async () => {
  const pool = new OpenPool(
    { connectionString: url, max: 1 },
    { connected: () => undefined, lost: () => undefined },
  );
  const sessions: unknown[] = [];
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance'] });
  try {
    for (let secs = 0; secs <= 300; secs += 5) {
      const client = await pool.connect();
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      sessions.push(rows[0]!.pid);
      client.release();
      jest.advanceTimersByTime(5000);
    }
  } finally {
    jest.useRealTimers();
    await pool.end();
  }
  expect(new Set(sessions.slice(0, -1)).size).toBe(1);
  expect(sessions.at(-1)).not.toBe(sessions[0]);
});

describe('a database that refuses new connections', () => {
  test('is degraded at the connection limit of a role, with the reason, until a connection can be opened', async () => {
    const database = await open(url.replace('tester', 'limited'));
    // The liveness check has a connection, and all others are closed.
    database.listen('news', () => undefined);
    await until(
      'the liveness check to have the only connection',
      async () => ({
        isConnected: database.isListening('news'),
        sessions: await asOwner(own.database, `SELECT FROM pg_stat_activity WHERE usename = 'limited'`),
      }),
      ({ isConnected, sessions }) => isConnected && sessions.rows.length === 1,
    );
    const thrown = await refusalWhileHeld(database);
    expect(thrown).toBeInstanceOf(ConnectionRefused);
    expect((thrown as DatabaseUnavailable).reason).toMatch(/^it has no free connection/);
    expect(database.status().state).toBe('up');
    expect(checked(database)).toEqual({
      status: 'degraded',
      detail: 'new connections cannot be opened: too many connections for role "limited"',
    });
    await asOwner(own.database, 'ALTER ROLE limited CONNECTION LIMIT 10');
    await until(
      'the check to be ok again',
      () => checked(database),
      ({ status }) => status === 'ok',
    );
  });

  test('is degraded if its certificate expires, with the reason, and open connections stay in use', async () => {
    const names = 'IP:127.0.0.1';
    await using gate = await TlsGate.open(url, authority.issue(names));
    const database = await open(
      `${gate.url}?sslmode=verify-full&sslrootcert=${encodeURIComponent(join(authority.folder, 'ca.pem'))}`,
    );
    await database.query('SELECT 1');
    gate.certificate = authority.issue(names, true);
    const thrown = await refusalWhileHeld(database);
    expect(thrown).toBeInstanceOf(ConnectionRefused);
    expect(thrown).toMatchObject({ reason: 'its certificate has expired' });
    expect(checked(database)).toEqual({
      status: 'degraded',
      detail: 'new connections cannot be opened: certificate has expired',
    });
    expect((await database.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
  });

  test('is down if its certificate is invalid from the start, and queries fail with the reason', async () => {
    await using gate = await TlsGate.open(url, authority.issue('DNS:other.example'));
    const urls = `${gate.url}?sslmode=verify-full&sslrootcert=${encodeURIComponent(join(authority.folder, 'ca.pem'))}`;
    const database = startDatabase({ urls, lock: own.lock, logger: new MemoryLogger() });
    opened.push(database);
    await until(
      'the database to be down',
      () => database.status(),
      ({ state }) => state === 'down',
    );
    await expect(database.query('SELECT 1')).rejects.toMatchObject({
      reason: 'its certificate is not valid',
    });
  });
});
