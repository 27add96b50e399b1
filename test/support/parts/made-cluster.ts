/**
 * Clusters of the embedded database that are created once per test run and copied to each data directory: initdb and
 * all migrations take two seconds, a copy a tenth of a second. The server of a copy does not sync to disk; this is safe
 * because no test crashes the machine. Outside jest, nothing is copied and each data directory gets a new cluster.
 */
import { execFile } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { lockDataDir } from '../../../control-plane/storage/db/data-dir-lock.ts';
import { type Database, startDatabase } from '../../../control-plane/storage/db/database.ts';
import { runningServerAddress } from '../../../control-plane/storage/db/running-postgres.ts';
import { MemoryLogger } from './memory-logger.ts';

/** Content of a database in addition to the tables: a name that identifies it, and a function that inserts it. */
export interface Content {
  readonly name: string;
  readonly sql: string;
}

/** A cluster as after an installation. */
export const EMPTY: Content = { name: 'empty', sql: '' };
/**
 * Hash of the password of `api-client.ts` that takes 0.2 ms: setting it and logging in with Argon2 takes a third of a
 * second.
 */
const PASSWORD_HASH =
  '$argon2id$v=19$m=64,p=1,t=1$Z8+6RA0GC/2S1KweIPMOvA$IjUSJWxfNr7Iann0xaBd7ztpdXpYmV7QiX6DY1l2Ljs';
/**
 * A cluster without a password, and without the public list that a first start adds, so that no test queries the
 * Internet.
 */
export const WITHOUT_PASSWORD: Content = {
  name: 'without-password',
  sql: `INSERT INTO meta (key, value) VALUES ('first_source_seeded', 'true')`,
};
/** A cluster after a first start and the setup of a password. */
export const STARTED_ONCE: Content = {
  name: 'started-once',
  sql: `${WITHOUT_PASSWORD.sql}; INSERT INTO admin_credential (password_hash) VALUES ('${PASSWORD_HASH}')`,
};

/** Entries of a data directory that belong to the cluster. */
const CLUSTER = ['postgres', 'postgres.password'];
/** Prefix of the name of a server's files in a data directory. */
const RUNTIME = 'runtime-';
/** Keeps the shared memory in the folder: a killed server would leave segments in /dev/shm. */
const NOT_SYNCED =
  'fsync = off\nfull_page_writes = off\nwal_init_zero = off\ndynamic_shared_memory_type = mmap\n';
/** Statements that remove the template databases, which are two thirds of a cluster. No test creates a database. */
const WITHOUT_TEMPLATES = [
  'UPDATE pg_database SET datistemplate = false',
  'DROP DATABASE template0',
  'DROP DATABASE template1',
];

/** Copies a migrated cluster to a data directory without one; the caller must not have locked the directory. */
export async function layCluster(dataDir: string, content: Content = EMPTY): Promise<void> {
  const run = process.env['WEIR_TEST_RUN'];
  if (run === undefined) return makeDatabase(dataDir, { content, url: '' });
  const made = join(run, content.name);
  if (!existsSync(made)) await makeCluster(made, content);
  lockDataDir(dataDir).release(); // Creates the directory with its permissions.
  const parts = CLUSTER.map((entry) => join(made, entry));
  // Copies sparsely, because the first segment of the WAL has 16 MiB that are nearly all zero.
  await promisify(execFile)('cp', ['-a', '--reflink=auto', '--sparse=always', ...parts, dataDir]);
}

/** Migrates and fills a database, either the embedded one or that of `url`, runs the last step, and closes it. */
export async function makeDatabase(
  dataDir: string,
  { content, url, last = [] }: { content: Content; url: string; last?: readonly string[] },
): Promise<void> {
  await withDatabase(dataDir, url, async (database) => {
    await database.query(content.sql);
    if (last.length > 0) await runAsOwner(dataDir, last);
  });
}

/**
 * Runs statements one by one as the owner of the embedded database, without a transaction. The database server must be
 * running.
 */
export function runAsOwner(dataDir: string, statements: readonly string[]): Promise<void> {
  return withOwner(dataDir, async (client) => {
    for (const statement of statements) await client.query(statement);
  });
}

/** Passes a connection of the owner of the embedded database to a function. The database server must be running. */
export async function withOwner<T>(dataDir: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(runningServerAddress(dataDir));
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Opens the database of a data directory that no Weir uses, either the embedded one or that of `url`, and closes it.
 */
export async function withDatabase<T>(
  dataDir: string,
  url: string,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const lock = lockDataDir(dataDir);
  const database = startDatabase({ urls: url, lock, logger: new MemoryLogger() });
  try {
    await database.whenUp();
    return await work(database);
  } finally {
    await database.close();
    lock.release();
  }
}

/**
 * Replaces a server's files with a symbolic link. All copies use the same files, because linking a thousand files takes
 * longer.
 */
function shareRuntime(path: string, shared: string): void {
  renameSync(path, shared);
  symlinkSync(shared, path);
}

/**
 * Creates the cluster of this name if no other suite has created it. A cluster under its final name is always complete.
 */
async function makeCluster(made: string, content: Content): Promise<void> {
  const folder = mkdtempSync(`${made}-`);
  const dataDir = join(folder, 'data');
  chmodSync(folder, 0o755);
  await makeDatabase(dataDir, { content, url: '', last: WITHOUT_TEMPLATES });
  for (const entry of readdirSync(join(dataDir, 'postgres'))) {
    const path = join(dataDir, 'postgres', entry);
    if (entry.startsWith(RUNTIME)) shareRuntime(path, join(folder, entry));
    else if (entry !== 'cluster') rmSync(path, { recursive: true });
  }
  appendFileSync(join(dataDir, 'postgres', 'cluster', 'postgresql.conf'), NOT_SYNCED);
  try {
    renameSync(dataDir, made);
  } catch (error) {
    if (!existsSync(made)) throw error; // If `made` exists, another suite has created it at the same time.
  }
}
