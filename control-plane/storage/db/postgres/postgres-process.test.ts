import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { MemoryLogger } from '../../../../test/support/parts/memory-logger.ts';
import { nicerBy } from '../../../../test/support/parts/niceness.ts';
import { makeTempDir } from '../../../../test/support/parts/test-database.ts';
import { until, within } from '../../../../test/support/parts/until.ts';
import { createCluster, setPassword } from './postgres-cluster.ts';
import type { ClusterTask } from './postgres-cluster.ts';
import { openPostgresHome } from './postgres-home.ts';
import {
  endOrphans,
  explainSpawnError,
  launchPostgres,
  serverEnvironment,
  serversOn,
} from './postgres-process.ts';
import type { PostgresLaunch, RunningPostgres } from './postgres-process.ts';
import { findPostgresPackage, prepareRuntime } from './postgres-runtime.ts';
import { NICENESS } from './process-priority.ts';

let root: string;
let task: ClusterTask;
let logger: MemoryLogger;

beforeAll(async () => {
  root = makeTempDir();
  const dataDir = join(root, 'data');
  mkdirSync(dataDir);
  const home = openPostgresHome(dataDir);
  const runtime = prepareRuntime(findPostgresPackage(), home.account, home.dir);
  task = { home, runtime, role: 'weir', password: 'first', signal: new AbortController().signal };
  await createCluster(task);
});
beforeEach(() => {
  logger = new MemoryLogger();
});
afterEach(async () => {
  for (const pid of serversOn(task.home.cluster)) process.kill(pid, 'SIGKILL');
  await until(
    'the processes of the test to end',
    () => serversOn(task.home.cluster),
    (all) => all.length === 0,
  );
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function launch({ settings: more = {}, ...change }: Partial<PostgresLaunch> = {}): Promise<RunningPostgres> {
  const { home, runtime } = task;
  const settings = {
    listen_addresses: '',
    unix_socket_directories: home.dir,
    log_line_prefix: '',
    log_destination: 'stderr',
    logging_collector: 'off',
    io_method: 'sync',
    shared_buffers: '8MB',
    ...more,
  };
  const { cluster, account } = home;
  return launchPostgres({ runtime, cluster, account, settings, logger, ...change });
}

async function query(password: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ host: task.home.dir, user: 'weir', password, database: 'postgres' });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

const pidFile = (): string => join(task.home.cluster, 'postmaster.pid');

describe('launchPostgres()', () => {
  test('resolves when the server accepts connections', async () => {
    const server = await launch();
    expect(await query('first', 'SELECT 7 AS n')).toEqual([{ n: 7 }]);
    expect(serversOn(task.home.cluster)).toContain(server.pid);
    await server.stop(5000);
  });

  test('gives the server and its sessions a lower priority than the DNS threads', async () => {
    const server = await launch();
    const pids = serversOn(task.home.cluster);
    expect(pids.length).toBeGreaterThan(1);
    expect(new Set(pids.map((pid) => getPriority(pid)))).toEqual(new Set([nicerBy(NICENESS.behindDns)]));
    await server.stop(5000);
  });

  test('rejects with the message of a server that does not start', async () => {
    await expect(launch({ settings: { no_such_setting: 1 } })).rejects.toThrow(
      new RegExp(
        `^could not start PostgreSQL on ${task.home.cluster}: server ended with code 1; .*no_such_setting`,
      ),
    );
  });

  test('rejects if the programs cannot be run', async () => {
    await expect(launch({ runtime: '/nonexistent' })).rejects.toThrow('need glibc');
  });

  test('ends a server whose start is aborted', async () => {
    await expect(launch({ signal: AbortSignal.abort() })).rejects.toThrow('server ended with');
    expect(serversOn(task.home.cluster)).toEqual([]);
  });

  test('reports how a server ended that was not stopped', async () => {
    const server = await launch();
    process.kill(server.pid, 'SIGKILL');
    expect(await server.exited).toContain('server ended with SIGKILL');
  });
});

describe('stop()', () => {
  test('ends sessions and writes all data, so that the next start needs no recovery', async () => {
    const server = await launch();
    await query('first', 'CREATE TABLE kept AS SELECT 7 AS n');
    await server.stop(5000);
    expect(serversOn(task.home.cluster)).toEqual([]);
    expect(existsSync(pidFile())).toBe(false);
    logger = new MemoryLogger();
    const again = await launch();
    expect(await query('first', 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
    expect(logger.text()).not.toContain('recovery');
    await again.stop(5000);
  });

  test('kills a server that hangs, including its sessions', async () => {
    const server = await launch();
    for (const pid of serversOn(task.home.cluster)) process.kill(pid, 'SIGSTOP');
    await server.stop(100);
    await until(
      'the server and its sessions to end',
      () => serversOn(task.home.cluster),
      (all) => all.length === 0,
    );
    expect(logger.text()).toMatch(/still running \d+ ms after SIGINT/);
    expect(logger.text()).toMatch(/still running \d+ ms after SIGQUIT/);
  });
});

describe('setPassword()', () => {
  test('lets the role log in with the new password only', async () => {
    await setPassword({ ...task, password: 'second' });
    const server = await launch();
    expect(await query('second', 'SELECT 7 AS n')).toEqual([{ n: 7 }]);
    await expect(query('first', 'SELECT 7 AS n')).rejects.toThrow('password authentication failed');
    await server.stop(5000);
    await setPassword(task);
  });
});

describe('endOrphans()', () => {
  test('ends the server of a killed weir, and removes its pid file', async () => {
    const server = await launch();
    await endOrphans(task.home.cluster, logger);
    await server.exited;
    expect(serversOn(task.home.cluster)).toEqual([]);
    expect(existsSync(pidFile())).toBe(false);
    expect(logger.text()).toContain('that a killed process of Weir left running');
  });

  test('ends sessions whose server has ended', async () => {
    const server = await launch();
    const pids = serversOn(task.home.cluster);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    process.kill(server.pid, 'SIGKILL');
    await until(
      'the server to end',
      () => serversOn(task.home.cluster),
      (pids) => !pids.includes(server.pid),
    );
    const ended = endOrphans(task.home.cluster, logger);
    for (const pid of pids) if (pid !== server.pid) process.kill(pid, 'SIGCONT');
    await within('the orphans to end', ended);
    expect(serversOn(task.home.cluster)).toEqual([]);
  });

  test('ignores an unrelated process with the ID in the pid file', async () => {
    const server = await launch();
    const content = readFileSync(pidFile(), 'utf8');
    await server.stop(5000);
    const { home } = task;
    const identity = home.account.isSelf ? {} : { uid: home.account.uid, gid: home.account.gid };
    const innocent = spawn('sleep', ['60'], identity);
    writeFileSync(pidFile(), content.replace(/^\d+/, String(innocent.pid)));
    await endOrphans(home.cluster, logger);
    expect(existsSync(pidFile())).toBe(false);
    expect(innocent.exitCode ?? innocent.signalCode).toBeNull();
    const again = await launch();
    await again.stop(5000);
    innocent.kill('SIGKILL');
    await within('the other process to end', once(innocent, 'close'));
  });
});

describe('explainSpawnError()', () => {
  const at = { runtime: '/opt/pg', account: { name: 'nobody', uid: 1, gid: 1, isSelf: false } };

  test.each([
    ['ENOENT', 'the binaries in /opt/pg/bin need glibc, which this system lacks; set database.url'],
    ['EPERM', 'Weir may not switch to user nobody; start it as that user or set database.url'],
    ['EACCES', 'user nobody may not execute the binaries in /opt/pg/bin'],
    ['EMFILE', 'spawn postgres EMFILE'],
  ])('returns the remedy for %s', (code, words) => {
    expect(explainSpawnError(Object.assign(new Error(`spawn postgres ${code}`), { code }), at)).toBe(words);
  });
});

describe('serverEnvironment()', () => {
  test('contains only PATH of the environment of Weir', () => {
    expect(serverEnvironment()).toEqual({ PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' });
  });
});
