import { afterEach, describe, expect, test } from '@jest/globals';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { layCluster } from '../../../test/support/parts/made-cluster.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { makeTempDir } from '../../../test/support/parts/test-database.ts';
import { prepareCluster, type PreparedCluster } from './embedded-cluster.ts';

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

async function layDataDir(): Promise<string> {
  const root = makeTempDir();
  roots.push(root);
  await layCluster(join(root, 'data'));
  return join(root, 'data');
}

function prepare(dataDir: string): Promise<PreparedCluster> {
  const { signal } = new AbortController();
  return prepareCluster(dataDir, { report: () => undefined, logger: new MemoryLogger(), signal });
}

describe('prepareCluster()', () => {
  test('keeps the PostgreSQL programs of its cluster, and deletes those of other versions', async () => {
    const dataDir = await layDataDir();
    const other = join(dataDir, 'postgres', 'runtime-9.0.0');
    mkdirSync(other);
    const { place, days } = await prepare(dataDir);
    expect(existsSync(join(place.runtime, 'bin', 'postgres'))).toBe(true);
    expect(place.runtime.startsWith(dataDir)).toBe(true);
    expect(days).toBeUndefined();
    expect(existsSync(other)).toBe(false);
  });

  test('runs a cluster of a later PostgreSQL version with the programs that were kept for it', async () => {
    const dataDir = await layDataDir();
    writeFileSync(join(dataDir, 'postgres', 'cluster', 'PG_VERSION'), '99\n');
    const kept = join(dataDir, 'postgres', 'runtime-99.1.0');
    mkdirSync(kept);
    expect((await prepare(dataDir)).place.runtime).toBe(kept);
  });

  test('reports what to do if the PostgreSQL programs of a cluster are missing', async () => {
    const dataDir = await layDataDir();
    writeFileSync(join(dataDir, 'postgres', 'cluster', 'PG_VERSION'), '9\n');
    await expect(prepare(dataDir)).rejects.toThrow(
      /created by PostgreSQL 9, whose programs are not in .* put the directory .native. .* there as runtime-9/,
    );
  });

  test('completes an interrupted replacement of a cluster', async () => {
    const dataDir = await layDataDir();
    const folder = join(dataDir, 'postgres');
    for (const name of ['cluster.before', 'cluster.gone']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'cluster.before', 'PG_VERSION'), '9\n');
    mkdirSync(join(folder, 'runtime-9.6.0'));
    renameSync(join(folder, 'cluster'), join(folder, 'cluster.next'));
    const { place, days } = await prepare(dataDir);
    expect(existsSync(join(place.home.cluster, 'PG_VERSION'))).toBe(true);
    expect(days?.runtimes.before).toBe(join(folder, 'runtime-9.6.0'));
    expect(existsSync(join(folder, 'cluster.gone'))).toBe(false);
  });
});
