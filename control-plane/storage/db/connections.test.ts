import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { runAsOwner } from '../../../test/support/parts/made-cluster.ts';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import { Connections } from './connections.ts';
import type { ConnectionOptions } from './connections.ts';
import { DatabaseBusy, DatabaseUnavailable } from './database-errors.ts';
import { parseDatabaseUrls } from './database-target.ts';
import { NoticeListeners } from './notice-listeners.ts';

/** Name of the tested sessions at the server. */
const NAME = 'connections-under-test';

let own: TestDatabase;
let url: string;
const opened: Connections[] = [];
beforeAll(async () => {
  own = await startTestDatabase();
  await asOwner(own.database, `CREATE ROLE tester LOGIN SUPERUSER PASSWORD 'secret'`);
  const { rows } = await asOwner<{ folder: string }>(
    own.database,
    `SELECT current_setting('unix_socket_directories') AS folder`,
  );
  const folder = encodeURIComponent(rows[0]!.folder);
  url = `postgres://tester:secret@localhost/postgres?host=${folder}`;
});
afterEach(async () => {
  for (const connections of opened.splice(0)) {
    connections.cut();
    await connections.end();
  }
  // Ends all sessions, because a statement in progress would keep its session during the following tests.
  for (const pid of await pidsOfSessions())
    await asOwner(own.database, 'SELECT pg_terminate_backend($1)', [pid]);
  await until(
    'the sessions of the test to end',
    () => pidsOfSessions(),
    (pids) => pids.length === 0,
  );
});
afterAll(() => own.stop());

function open(options: Partial<ConnectionOptions> = {}): Connections {
  const [parsed] = parseDatabaseUrls(url);
  const target = { ...parsed!, config: { ...parsed!.config, application_name: NAME } };
  const connections = new Connections({
    target,
    logger: own.logger,
    notices: new NoticeListeners(),
    poolSize: 2,
    waitMs: 10_000,
    ...options,
  });
  opened.push(connections);
  return connections;
}

async function pidsOfSessions(condition = 'true'): Promise<number[]> {
  const { rows } = await asOwner<{ pid: number }>(
    own.database,
    `SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND ${condition}`,
    [NAME],
  );
  return rows.map(({ pid }) => pid);
}

/** Process ids of sessions that have run a statement, so that the client knows that it is connected. */
const pidsInUse = (): Promise<number[]> => pidsOfSessions(`state = 'idle' AND query <> ''`);

const pidOf = (connections: Connections): Promise<number> =>
  connections.use(async (client) => {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return rows[0]!.pid;
  });

/** Holds `count` connections until `release` is called. */
function hold(connections: Connections, count: number): { release: () => void; done: Promise<number[]> } {
  const held = Promise.withResolvers<undefined>();
  const done = Array.from({ length: count }, (_, n) =>
    connections.use(async (client) => {
      await held.promise;
      return (await client.query<{ n: number }>('SELECT $1::integer AS n', [n])).rows[0]!.n;
    }),
  );
  return { release: () => held.resolve(undefined), done: Promise.all(done) };
}

describe('Connections use()', () => {
  test('reports busy to a caller that waited too long, and keeps the connections in use', async () => {
    const connections = open({ waitMs: 1500 });
    const { release, done } = hold(connections, 2);
    await expect(pidOf(connections)).rejects.toBeInstanceOf(DatabaseBusy);
    release();
    expect(await done).toEqual([0, 1]);
    expect(await pidOf(connections)).toBeGreaterThan(0);
    expect(connections.isLost()).toBe(false);
  });

  test('throws the error of the statement, and reuses the connection', async () => {
    const connections = open({ poolSize: 1 });
    const pid = await pidOf(connections);
    const failing = connections.use((client) => client.query('SELECT * FROM nothing_of_that_name'));
    await expect(failing).rejects.toMatchObject({ code: '42P01' });
    expect(await pidOf(connections)).toBe(pid);
    expect(connections.isLost()).toBe(false);
  });

  test('declares the server lost if a connection ends during a statement', async () => {
    const connections = open();
    const killed = connections.use((client) => client.query('SELECT pg_terminate_backend(pg_backend_pid())'));
    await expect(killed).rejects.toBeInstanceOf(DatabaseUnavailable);
    expect(connections.isLost()).toBe(true);
  });

  test('does not declare the server lost because of a statement that it cancelled itself', async () => {
    const connections = open({ poolSize: 1 });
    const pid = await pidOf(connections);
    const slow = connections.use((client) => {
      const statement = { text: 'SELECT pg_sleep(60)', query_timeout: 100 };
      return client.query(statement);
    });
    await expect(slow).rejects.toBeInstanceOf(DatabaseBusy);
    expect(connections.isLost()).toBe(false);
    // A new connection is used, because the statement may still occupy the old one.
    expect(await pidOf(connections)).not.toBe(pid);
  });

  test('ends a transaction that is idle for too long, so that its locks are released', async () => {
    await asOwner(own.database, 'CREATE TABLE locked AS SELECT 1 AS n');
    const cut = open({ waitMs: 500 });
    // Retries, because connecting may take longer on a busy machine.
    await until('a connection', () => pidOf(cut).catch(() => null));
    const silent = Promise.withResolvers<undefined>();
    const lent = cut.use(async (client) => {
      await client.query('BEGIN; UPDATE locked SET n = 2');
      await silent.promise;
      await client.query('COMMIT');
    });
    await until('the connection to be lost', () => cut.isLost());
    await own.database.query('UPDATE locked SET n = 3');
    silent.resolve(undefined);
    await expect(lent).rejects.toBeInstanceOf(DatabaseUnavailable);
    expect((await own.database.query('TABLE locked')).rows).toEqual([{ n: 3 }]);
  });
});

describe('Connections useInTurn()', () => {
  test('lends a separate connection to one caller at a time', async () => {
    const connections = open({ poolSize: 1 });
    const order: string[] = [];
    const first = Promise.withResolvers<undefined>();
    const inTurn = (name: string, until: Promise<unknown>): Promise<number> =>
      connections.useInTurn(async (client) => {
        order.push(`${name} begins`);
        await until;
        order.push(`${name} ends`);
        const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        return rows[0]!.pid;
      });
    const changes = [inTurn('one', first.promise), inTurn('two', Promise.resolve())];
    const other = await pidOf(connections);
    first.resolve(undefined);
    const pids = new Set(await Promise.all(changes));
    expect(order).toEqual(['one begins', 'one ends', 'two begins', 'two ends']);
    expect(pids.size).toBe(1);
    expect(pids.has(other)).toBe(false);
  });

  test('reports busy if another node holds the lock too long', async () => {
    const connections = open({ waitMs: 1500 });
    const held = Promise.withResolvers<undefined>();
    const taken = Promise.withResolvers<undefined>();
    const holder = own.database.transaction(async (tx) => {
      await tx.query('SELECT pg_advisory_xact_lock(7)');
      taken.resolve(undefined);
      await held.promise;
    });
    await within('the lock', taken.promise);
    const waiting = connections.useInTurn((client) => client.query('SELECT pg_advisory_lock(7)'));
    await expect(waiting).rejects.toBeInstanceOf(DatabaseBusy);
    held.resolve(undefined);
    await holder;
    expect(connections.isLost()).toBe(false);
  });

  test('ends a transaction that is idle for too long, so that changes of other nodes continue', async () => {
    const stopped = open({ waitMs: 1500 });
    const silent = Promise.withResolvers<undefined>();
    const change = stopped.useInTurn(async (client) => {
      await client.query('BEGIN; SELECT pg_advisory_xact_lock(8)');
      await silent.promise;
      await client.query('COMMIT');
    });
    await until('the connection to be lost', () => stopped.isLost());
    await own.database.transactionInTurn(8, (tx) => tx.query('SELECT 1'));
    silent.resolve(undefined);
    await expect(change).rejects.toBeInstanceOf(DatabaseUnavailable);
  });
});

describe('Connections untilLost()', () => {
  test('returns why the server is lost, even if no statement failed', async () => {
    const connections = open();
    const lost = connections.untilLost(new AbortController().signal);
    const [pid] = await until('the liveness check to be answered', pidsInUse, (pids) => pids.length === 1);
    await asOwner(own.database, 'SELECT pg_terminate_backend($1)', [pid]);
    expect(String(await lost)).toContain('terminating connection due to administrator command');
    expect(connections.isLost()).toBe(true);
  });

  test('returns why no connection can be established', async () => {
    const good = url;
    url = good.replace('secret', 'wrong');
    const reason = await open().untilLost(new AbortController().signal);
    url = good;
    expect(String(reason)).toContain('password authentication failed');
  });

  test('returns the fault of a statement immediately, even while its own connection is being established', async () => {
    const accepted: Socket[] = [];
    const silent = createServer((socket) => accepted.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const [target] = parseDatabaseUrls(`postgres://tester:secret@127.0.0.1:${port}/postgres`);
    const connections = open({ target: target! });
    const lost = connections.untilLost(new AbortController().signal);
    await until(
      'the liveness check to connect',
      () => accepted.length,
      (count) => count === 1,
    );
    connections.lose('found lost');
    expect(await lost).toBe('found lost');
    for (const socket of accepted) socket.destroy();
    silent.close();
  });

  test('ends when Weir stops, without declaring the server lost', async () => {
    const connections = open();
    const stopping = new AbortController();
    const ended = connections.untilLost(stopping.signal);
    await until(
      'the liveness check to connect',
      () => pidsOfSessions(),
      (pids) => pids.length === 1,
    );
    stopping.abort();
    expect(await ended).toBeUndefined();
    expect(connections.isLost()).toBe(false);
  });
});

describe('Connections giveUpUnlessAnswering()', () => {
  /** Opens connections, and waits until their liveness check is connected. */
  async function watched(): Promise<Connections> {
    const connections = open();
    void connections.untilLost(new AbortController().signal);
    await until(
      'the liveness check to connect',
      () => pidsOfSessions(),
      (pids) => pids.length === 1,
    );
    return connections;
  }

  test('keeps a server that responds', async () => {
    const connections = await watched();
    await connections.giveUpUnlessAnswering(10_000);
    expect(connections.isLost()).toBe(false);
    expect(await pidOf(connections)).toBeGreaterThan(0);
    connections.lose();
  });

  test('gives up a server that hangs, and the statements on it', async () => {
    const connections = await watched();
    const held = connections.use((client) => client.query('SELECT pg_sleep(60)'));
    held.catch(() => undefined);
    await until(
      'the statement to have its session',
      () => pidsOfSessions(),
      (pids) => pids.length === 2,
    );
    const pids = await pidsOfSessions();
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await connections.giveUpUnlessAnswering(100);
    expect(connections.isLost()).toBe(true);
    await expect(held).rejects.toBeInstanceOf(DatabaseUnavailable);
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  });

  test('gives up a server that became read-only', async () => {
    const connections = await watched();
    const reload = (change: string): Promise<void> =>
      runAsOwner(own.dataDir, [change, 'SELECT pg_reload_conf()']);
    await reload('ALTER SYSTEM SET default_transaction_read_only = on');
    await until('the server to be read-only', async () => {
      await connections.giveUpUnlessAnswering(10_000);
      return connections.isLost();
    });
    expect(await connections.untilLost(new AbortController().signal)).toMatchObject({
      message: 'the database server became read-only',
    });
    await reload('ALTER SYSTEM RESET default_transaction_read_only');
  });
});

describe('Connections end()', () => {
  test('closes idle connections immediately, and waits for connections in use', async () => {
    const connections = open();
    const { release, done } = hold(connections, 1);
    await until(
      'a connection to be lent',
      () => pidsOfSessions(),
      (pids) => pids.length === 1,
    );
    let hasEnded = false;
    const ended = connections.end().then(() => (hasEnded = true));
    await expect(pidOf(connections)).rejects.toBeInstanceOf(DatabaseUnavailable);
    expect(hasEnded).toBe(false);
    release();
    expect(await done).toEqual([0]);
    await ended;
    opened.length = 0;
  });

  test('stops waiting when the connections are closed forcibly', async () => {
    const connections = open();
    const held = connections.use((client) => client.query('SELECT pg_sleep(60)'));
    held.catch(() => undefined);
    await until(
      'the statement to have its session',
      () => pidsOfSessions(),
      (pids) => pids.length === 1,
    );
    const ended = connections.end();
    connections.cut();
    await ended;
    await expect(held).rejects.toBeInstanceOf(DatabaseUnavailable);
    opened.length = 0;
  });
});
