/**
 * Data directories for a Weir server under test, in temporary folders that every user can enter, because PostgreSQL
 * runs as another user if the tests run as root.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { layCluster, makeDatabase, STARTED_ONCE } from '../parts/made-cluster.ts';

/** A folder of a suite. */
export interface TempDir {
  readonly path: string;
  /** The data directory in the folder; initially it does not exist. */
  readonly dataDir: string;
  remove(): void;
}

/** Creates a folder. */
export function makeTempDir(): TempDir {
  const path = mkdtempSync(join(tmpdir(), 'weir-e2e-'));
  chmodSync(path, 0o755);
  return { path, dataDir: join(path, 'data'), remove: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * Creates a data directory as after a first start: with a database, the embedded one or that of `url`, but without the
 * public list that a first start adds, so that no test queries the Internet.
 */
export function prepareDataDir(dataDir: string, url = ''): Promise<void> {
  if (url === '') return layCluster(dataDir, STARTED_ONCE);
  return makeDatabase(dataDir, { content: STARTED_ONCE, url });
}
