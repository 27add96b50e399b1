import { afterEach, describe, expect, test } from '@jest/globals';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from '../../../../test/support/parts/test-database.ts';
import { createCluster, setPassword } from './postgres-cluster.ts';
import type { ClusterTask } from './postgres-cluster.ts';
import { openPostgresHome } from './postgres-home.ts';
import { findPostgresPackage, prepareRuntime } from './postgres-runtime.ts';

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

/** A task with an empty home directory. */
function newTask(change: Partial<ClusterTask> = {}): ClusterTask {
  const root = makeTempDir();
  roots.push(root);
  const dataDir = join(root, 'data');
  mkdirSync(dataDir);
  const home = openPostgresHome(dataDir);
  const runtime = prepareRuntime(findPostgresPackage(), home.account, home.dir);
  const signal = new AbortController().signal;
  return { home, runtime, role: 'weir', password: 'first-secret', signal, ...change };
}

/** Clusters in the home directory. */
const clustersIn = ({ home }: ClusterTask): string[] =>
  readdirSync(home.dir).filter((name) => name.startsWith('cluster'));

describe('createCluster()', () => {
  test('creates a complete cluster, and leaves no password file behind', async () => {
    const task = newTask();
    await createCluster(task);
    expect(clustersIn(task)).toEqual(['cluster']);
    expect(existsSync(join(task.home.cluster, 'PG_VERSION'))).toBe(true);
    expect(statSync(task.home.cluster).uid).toBe(task.home.account.uid);
  });

  test('deletes the files of a start that was killed', async () => {
    const task = newTask();
    mkdirSync(join(task.home.dir, 'cluster.new-dead', 'base'), { recursive: true });
    writeFileSync(join(task.home.dir, 'cluster.new-dead.password'), 'secret');
    await createCluster(task);
    expect(clustersIn(task)).toEqual(['cluster']);
  });

  test('leaves nothing behind if initdb fails, and reports why', async () => {
    const task = newTask({ role: 'pg_reserved' });
    await expect(createCluster(task)).rejects.toThrow(
      new RegExp(`^initdb failed on ${task.home.dir}: .*superuser name "pg_reserved" is disallowed`),
    );
    expect(clustersIn(task)).toEqual([]);
  });

  test('stops when it is aborted, and leaves nothing behind', async () => {
    const task = newTask({ signal: AbortSignal.abort() });
    await expect(createCluster(task)).rejects.toThrow('run initdb: ');
    expect(clustersIn(task)).toEqual([]);
  });

  test('reports the missing part if the PostgreSQL programs cannot be run', async () => {
    const task = newTask({ runtime: '/nonexistent' });
    await expect(createCluster(task)).rejects.toThrow(
      'run initdb: the binaries in /nonexistent/bin need glibc, which this system lacks; set database.url',
    );
    expect(clustersIn(task)).toEqual([]);
  });
});

describe('setPassword()', () => {
  test('reports why it cannot open a cluster, with the same message each time', async () => {
    const task = newTask();
    mkdirSync(task.home.cluster);
    const tries = [setPassword(task), setPassword(task)];
    const reasons = (await Promise.allSettled(tries)).map((outcome) =>
      outcome.status === 'rejected' ? String(outcome.reason) : 'done',
    );
    expect(reasons[0]).toMatch(/postgres failed on .*cluster/);
    expect(reasons[1]).toBe(reasons[0]);
    expect(reasons[0]).not.toMatch(/\[\d+\]|\d\d:\d\d/);
  });
});
