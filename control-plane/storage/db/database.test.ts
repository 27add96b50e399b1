import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { until } from '../../../test/support/parts/until.ts';
import { DatabaseUnavailable, isForeignKeyViolation, isUniqueViolation } from './database-errors.ts';
import { startDatabase } from './database.ts';
import type { Database, Queryable } from './database.ts';
import { serversOn } from './postgres/postgres-process.ts';

let own: TestDatabase;
const opened: Database[] = [];
beforeAll(async () => {
  own = await startTestDatabase();
  await asOwner(own.database, `CREATE ROLE tester LOGIN SUPERUSER PASSWORD 'hunter2-secret'`);
});
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close();
});
afterAll(() => own.stop());

/** URL of the embedded server, with which it can be used like an external one. */
async function externalUrl(change: (url: URL) => void = () => undefined): Promise<string> {
  const { rows } = await asOwner<{ dir: string }>(
    own.database,
    `SELECT setting AS dir FROM pg_settings WHERE name = 'unix_socket_directories'`,
  );
  const url = new URL('postgres://tester:hunter2-secret@localhost/postgres');
  url.searchParams.set('host', rows[0]!.dir);
  change(url);
  return url.toString();
}

/** A database on given URLs, closed when the test ends. */
function open(urls: string | readonly string[]): { database: Database; logger: MemoryLogger } {
  const logger = new MemoryLogger();
  const database = startDatabase({ urls, lock: own.lock, logger });
  opened.push(database);
  return { database, logger };
}

describe('startDatabase()', () => {
  test('returns before the database is up, and queries reject immediately until it is up', async () => {
    const { database } = open(await externalUrl());
    expect(database.status()).toMatchObject({ state: 'starting', error: null });
    await expect(database.query('SELECT 1')).rejects.toBeInstanceOf(DatabaseUnavailable);
    await database.whenUp();
    expect((await database.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
  });

  test('is down if the password is wrong, with a clear reason that does not contain the password', async () => {
    const { database, logger } = open(await externalUrl((url) => (url.password = 'wrong-secret')));
    await until(
      'the database to be down',
      () => database.status(),
      ({ state }) => state === 'down',
    );
    const texts = JSON.stringify([database.status(), logger.lines]);
    expect(database.status().error).toContain('password authentication failed for user "tester"');
    expect(texts).not.toContain('wrong-secret');
  });

  test('recovers when the cause is resolved', async () => {
    const url = await externalUrl((parsed) => (parsed.password = 'set-later'));
    const { database } = open(url);
    await until(
      'the database to be down',
      () => database.status(),
      ({ state }) => state === 'down',
    );
    await asOwner(own.database, `ALTER ROLE tester PASSWORD 'set-later'`);
    await database.whenUp();
    expect(database.status()).toMatchObject({ state: 'up', error: null });
    await asOwner(own.database, `ALTER ROLE tester PASSWORD 'hunter2-secret'`);
  });

  test('uses the first of several servers that accepts writes', async () => {
    const dead = 'postgres://weir@127.0.0.1:1/postgres';
    const readOnly = await externalUrl((url) =>
      url.searchParams.set('options', '-c default_transaction_read_only=on'),
    );
    const good = await externalUrl((url) => url.searchParams.set('application_name', 'the-good-one'));
    const { database } = open(`${dead},${readOnly}, ${good}`);
    await database.whenUp();
    const { rows } = await database.query<{ name: string }>(
      `SELECT current_setting('application_name') AS name`,
    );
    expect(rows).toEqual([{ name: 'the-good-one' }]);
  });

  test('uses a server that does not report its WAL position, and logs that once', async () => {
    const { database: before } = open(await externalUrl());
    await before.whenUp();
    await before.query(
      `CREATE ROLE stranger LOGIN PASSWORD 'hunter2-secret' IN ROLE pg_read_all_data;
       REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC`,
    );
    const { database, logger } = open(await externalUrl((url) => (url.username = 'stranger')));
    await database.whenUp();
    expect(logger.text().match(/does not report its WAL position/g)).toHaveLength(1);
  });

  test('reports the fault of every server if none is usable', async () => {
    const readOnly = await externalUrl((url) =>
      url.searchParams.set('options', '-c default_transaction_read_only=on'),
    );
    const { database } = open(['postgres://weir@127.0.0.1:1/postgres', readOnly]);
    await until(
      'the database to be down',
      () => database.status(),
      ({ state }) => state === 'down',
    );
    expect(database.status().error).toMatch(/127\.0\.0\.1:1.*ECONNREFUSED.*read-only/);
  });

  test('close() ends a database that was never up, and rejects callers that wait for it', async () => {
    const { database } = open('postgres://weir@127.0.0.1:1/postgres');
    const waiting = expect(database.whenUp()).rejects.toBeInstanceOf(DatabaseUnavailable);
    await database.close();
    await waiting;
  });
});

describe('transaction()', () => {
  test('rolls back if its callback throws, and throws the same error', async () => {
    const { database } = own;
    const failing = database.transaction(async (tx) => {
      await tx.query(`INSERT INTO groups (name) VALUES ('half')`);
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect((await database.query(`SELECT 1 FROM groups WHERE name = 'half'`)).rows).toEqual([]);
  });

  test('repeats its callback after a deadlock', async () => {
    const { database } = own;
    await database.query(`INSERT INTO meta (key, value) VALUES ('one', '0'), ('two', '0')`);
    const add = (tx: Queryable, key: string): Promise<unknown> =>
      tx.query(`UPDATE meta SET value = to_jsonb(value::text::integer + 1) WHERE key = $1`, [key]);
    const both = Promise.withResolvers<undefined>();
    let runs = 0;
    const inOrder = (first: string, second: string): Promise<void> =>
      database.transaction(async (tx) => {
        await add(tx, first);
        // Waits until each transaction has locked the row that the other one needs next.
        if (++runs === 2) both.resolve(undefined);
        await both.promise;
        await add(tx, second);
      });
    await Promise.all([inOrder('one', 'two'), inOrder('two', 'one')]);
    // The server may roll back both transactions, if each detects the deadlock before the other one has ended.
    expect(runs).toBeGreaterThanOrEqual(3);
    const { rows } = await database.query(`SELECT value FROM meta WHERE key IN ('one', 'two')`);
    expect(rows).toEqual([{ value: 2 }, { value: 2 }]);
  });

  test('throws constraint violations unchanged', async () => {
    const { database } = own;
    const taken = await database
      .query(`INSERT INTO groups (name) VALUES ('DEFAULT')`)
      .catch((error: unknown) => error);
    expect(isUniqueViolation(taken, 'groups_name_key')).toBe(true);
    const dangling = database.query('INSERT INTO list_source_groups VALUES (1, 1)');
    expect(isForeignKeyViolation(await dangling.catch((error: unknown) => error))).toBe(true);
    const disabled = database.query('UPDATE groups SET enabled = false WHERE id = 1');
    await expect(disabled).rejects.toThrow('groups_default_stays_enabled');
    expect(database.status().state).toBe('up');
  });
});

describe('the embedded database', () => {
  test('works again with the same Database object after all its processes were killed', async () => {
    const { database, dataDir, logger } = own;
    const states: string[] = [];
    const stop = database.onStatus(({ state }) => states.push(state));
    await database.query(`INSERT INTO meta (key, value) VALUES ('before-kill', 'true')`);
    for (const pid of serversOn(`${dataDir}/postgres/cluster`)) process.kill(pid, 'SIGKILL');
    await until(
      'the database to be down',
      () => states,
      (seen) => seen.includes('down'),
    );
    await until(
      'the database to be up again',
      () => states,
      (seen) => seen.includes('up'),
    );
    stop();
    const { rows } = await database.query(`SELECT value FROM meta WHERE key = 'before-kill'`);
    expect(rows).toEqual([{ value: true }]);
    expect(logger.text()).toContain('database is down');
  });

  test('keeps its LISTEN session after one of its other sessions was killed', async () => {
    const states: string[] = [];
    const stopWatching = own.database.onStatus(({ state }) => states.push(state));
    const heard: string[] = [];
    const stop = own.database.listen('news', (payload) => heard.push(payload));
    const receiveFrom = async (what: string): Promise<void> => {
      const ask = async (): Promise<string[]> => {
        await own.database.query('SELECT pg_notify($1, $2)', ['news', what]).catch(() => undefined);
        return heard;
      };
      await until(`the notice ${what}`, ask, (seen) => seen.includes(what));
    };
    await receiveFrom('before');
    const { rows } = await own.database.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    process.kill(rows[0]!.pid, 'SIGKILL');
    await until(
      'the database to be up again',
      () => states,
      (seen) => seen.includes('down') && seen.at(-1) === 'up',
    );
    await receiveFrom('after');
    stop();
    stopWatching();
  });

  test('opens a new connection after one of its sessions was killed, and is up again', async () => {
    const { database } = own;
    const { rows } = await database.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const states: string[] = [];
    const stop = database.onStatus(({ state }) => states.push(state));
    process.kill(rows[0]!.pid, 'SIGKILL');
    await until(
      'the database to be up again',
      () => states,
      (seen) => seen.includes('down') && seen.at(-1) === 'up',
    );
    stop();
    expect((await database.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
  });
});
