import { afterEach, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { layCluster } from '../../../test/support/parts/made-cluster.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { makeTempDir } from '../../../test/support/parts/test-database.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import { lockDataDir } from './data-dir-lock.ts';
import { createEmbeddedServer } from './embedded-server.ts';
import type { EmbeddedServer } from './embedded-server.ts';
import type { PostgresAddress } from './postgres/postgres-address.ts';
import { serversOn } from './postgres/postgres-process.ts';

const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

function makeDataDir(): string {
  const root = makeTempDir();
  cleanUps.push(() => rmSync(root, { recursive: true, force: true }));
  return join(root, 'data');
}

/** A data directory with a database cluster that was used before. */
async function makeUsedDataDir(): Promise<string> {
  const dataDir = makeDataDir();
  await layCluster(dataDir);
  return dataDir;
}

/** A server with its lock; both are released when the test ends. */
function serverOn(dataDir: string): {
  server: EmbeddedServer;
  logger: MemoryLogger;
  close: () => Promise<void>;
} {
  const lock = lockDataDir(dataDir);
  const logger = new MemoryLogger();
  const server = createEmbeddedServer(lock, logger);
  const close = async (): Promise<void> => {
    await server.stop();
    lock.release();
  };
  cleanUps.push(close);
  return { server, logger, close };
}

async function query(address: PostgresAddress, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(address);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** A Weir server in another process; `kill()` is a kill -9. */
async function startElsewhere(dataDir: string): Promise<{ serverPid: number; kill(): Promise<void> }> {
  const program = fileURLToPath(new URL('../../../test/support/parts/own-database.ts', import.meta.url));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [firstLine] = (await within('the other Weir to start its server', once(child.stdout, 'data'))) as [
    Buffer,
  ];
  return {
    serverPid: Number(firstLine.toString().split(' ')[1]),
    async kill() {
      child.kill('SIGKILL');
      await within('the other Weir to end', once(child, 'close'));
    },
  };
}

describe('createEmbeddedServer()', () => {
  test('ensureRunning() creates a cluster that only its user can access, with a password that only weir can read', async () => {
    const dataDir = makeDataDir();
    const { server } = serverOn(dataDir);
    const address = await server.ensureRunning();
    expect(await query(address, 'SELECT current_user AS me')).toEqual([{ me: 'weir' }]);
    expect(statSync(join(dataDir, 'postgres')).mode & 0o777).toBe(0o700);
    expect(statSync(join(dataDir, 'postgres.password')).mode & 0o777).toBe(0o600);
    expect(statSync(join(dataDir, 'postgres')).uid).not.toBe(0);
    await expect(query({ ...address, password: 'wrong' }, 'SELECT 1')).rejects.toThrow(
      'password authentication failed',
    );
  });

  test('ensureRunning() listens on a Unix socket only, in a short directory if the data directory has a long path', async () => {
    const dataDir = join(makeDataDir(), 'a'.repeat(60), 'b'.repeat(60));
    const { server, close } = serverOn(dataDir);
    const address = await server.ensureRunning();
    expect(address.host.startsWith('/')).toBe(true);
    expect(address.host.startsWith(dataDir)).toBe(false);
    expect(await query(address, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '' }]);
    await close();
    expect(existsSync(address.host)).toBe(false);
  });

  test('stop() leaves no process and loses no data, which a new start finds without recovery', async () => {
    const dataDir = await makeUsedDataDir();
    const first = serverOn(dataDir);
    await query(await first.server.ensureRunning(), 'CREATE TABLE kept AS SELECT 7 AS n');
    await first.close();
    expect(serversOn(join(dataDir, 'postgres', 'cluster'))).toEqual([]);
    const second = serverOn(dataDir);
    expect(await query(await second.server.ensureRunning(), 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
    expect(second.logger.text()).not.toContain('recovery');
  });

  test('ensureRunning() restarts a killed server and keeps committed data', async () => {
    const { server, logger } = serverOn(await makeUsedDataDir());
    await query(await server.ensureRunning(), 'CREATE TABLE kept AS SELECT 7 AS n');
    const killed = server.pid() ?? 0;
    process.kill(killed, 'SIGKILL');
    await until(
      'the server to notice that it was killed',
      () => server.pid(),
      (now) => now === undefined,
    );
    expect(await query(await server.ensureRunning(), 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
    expect(server.pid()).not.toBe(killed);
    expect(logger.text()).toContain('embedded database ended unexpectedly');
  });

  test('ensureRunning() restarts a killed server even if one of its sessions hangs', async () => {
    const dataDir = await makeUsedDataDir();
    const { server } = serverOn(dataDir);
    const session = new pg.Client(await server.ensureRunning());
    session.on('error', () => undefined); // An error is expected when the server of the session ends.
    await session.connect();
    const { rows } = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    process.kill(rows[0]!.pid, 'SIGSTOP');
    process.kill(server.pid()!, 'SIGKILL');
    await until(
      'the server to notice that it was killed',
      () => server.pid(),
      (now) => now === undefined,
    );
    expect(serversOn(join(dataDir, 'postgres', 'cluster'))).toContain(rows[0]!.pid);
    expect(await query(await server.ensureRunning(), 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    expect(serversOn(join(dataDir, 'postgres', 'cluster'))).not.toContain(rows[0]!.pid);
  });

  test('ensureRunning() starts a server that shuts down when weir is killed', async () => {
    const dataDir = await makeUsedDataDir();
    const elsewhere = await startElsewhere(dataDir);
    const cluster = join(dataDir, 'postgres', 'cluster');
    expect(serversOn(cluster)).toContain(elsewhere.serverPid);
    await elsewhere.kill();
    await until(
      'the server of the killed Weir to end',
      () => serversOn(cluster),
      (all) => all.length === 0,
    );
    expect(existsSync(join(cluster, 'postmaster.pid'))).toBe(false);
  });

  test('ensureRunning() ends the server that a killed weir left behind, and starts a new server', async () => {
    const dataDir = await makeUsedDataDir();
    const elsewhere = await startElsewhere(dataDir);
    process.kill(elsewhere.serverPid, 'SIGSTOP'); // It cannot notice that Weir has ended.
    await elsewhere.kill();
    const { server, logger } = serverOn(dataDir);
    const running = server.ensureRunning();
    // The server would end immediately when it continues, so it must first be found.
    await until(
      'the server to be found',
      () => logger.text(),
      (text) => text.includes('that a killed process of Weir left running'),
    );
    process.kill(elsewhere.serverPid, 'SIGCONT');
    expect(await query(await running, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    expect(server.pid()).not.toBe(elsewhere.serverPid);
  });

  test('ensureRunning() sets a new password if the password file is lost', async () => {
    const dataDir = await makeUsedDataDir();
    const first = serverOn(dataDir);
    const old = await first.server.ensureRunning();
    await query(old, 'CREATE TABLE kept AS SELECT 7 AS n');
    await first.close();
    rmSync(join(dataDir, 'postgres.password'));
    const second = serverOn(dataDir);
    const address = await second.server.ensureRunning();
    expect(address.password).not.toBe(old.password);
    expect(await query(address, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  });

  test('ensureRunning() reports the reason if the server does not start', async () => {
    const dataDir = await makeUsedDataDir();
    const settings = join(dataDir, 'postgres', 'cluster', 'postgresql.conf');
    chmodSync(settings, 0o666);
    writeFileSync(settings, 'no_such_setting = 1\n');
    const { server } = serverOn(dataDir);
    await expect(server.ensureRunning()).rejects.toThrow(/start PostgreSQL on .*postgresql.conf/);
  });
});
