/**
 * Data directories for a Weir under test, in temporary folders that every user can pass through, since
 * PostgreSQL runs as another user where the tests run as root.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { layCluster, makeDatabase, STARTED_ONCE } from '../parts/made-cluster.ts';

/** A folder of a suite. */
export interface TempDir {
  readonly path: string;
  /** The data directory in it; not made yet. */
  readonly dataDir: string;
  remove(): void;
}

/** Makes a folder. */
export function makeTempDir(): TempDir {
  const path = mkdtempSync(join(tmpdir(), 'weir-e2e-'));
  chmodSync(path, 0o755);
  return { path, dataDir: join(path, 'data'), remove: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * Makes a data directory whose first start is behind it: with a database, the embedded one or that of `url`,
 * but without the public list that a first start subscribes to, so that no test asks the Internet.
 */
export function prepareDataDir(dataDir: string, url = ''): Promise<void> {
  if (url === '') return layCluster(dataDir, STARTED_ONCE);
  return makeDatabase(dataDir, { content: STARTED_ONCE, url });
}
