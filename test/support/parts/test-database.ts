/** A real embedded database in a temporary data directory, for one suite. Starting it takes half a second. */
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockDataDir } from '../../../control-plane/storage/db/data-dir-lock.ts';
import type { DataDirLock } from '../../../control-plane/storage/db/data-dir-lock.ts';
import { startDatabase } from '../../../control-plane/storage/db/database.ts';
import type { Database } from '../../../control-plane/storage/db/database.ts';
import { layCluster } from './made-cluster.ts';
import { MemoryLogger } from './memory-logger.ts';

/** Database of a suite. */
export interface TestDatabase {
  readonly database: Database;
  readonly dataDir: string;
  readonly lock: DataDirLock;
  readonly logger: MemoryLogger;
  /** Stops the server and deletes the directory. */
  stop(): Promise<void>;
}

/** Creates a temporary folder that every user can enter: if the tests run as root, the server runs as another user. */
export function makeTempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'weir-test-'));
  chmodSync(dir, 0o755);
  return dir;
}

/** Starts a migrated database. */
export async function startTestDatabase(
  dataDir: string = join(makeTempDir(), 'data'),
): Promise<TestDatabase> {
  const logger = new MemoryLogger();
  if (!existsSync(join(dataDir, 'postgres'))) await layCluster(dataDir);
  const lock = lockDataDir(dataDir);
  const database = startDatabase({ urls: '', lock, logger });
  await database.whenUp();
  return {
    database,
    dataDir,
    lock,
    logger,
    async stop() {
      await database.close();
      lock.release();
      rmSync(join(dataDir, '..'), { recursive: true, force: true });
    },
  };
}
