import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { layCluster } from '../../../test/support/parts/made-cluster.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { makeTempDir } from '../../../test/support/parts/test-database.ts';
import { until } from '../../../test/support/parts/until.ts';
import { lockDataDir } from './data-dir-lock.ts';
import type { DataDirLock } from './data-dir-lock.ts';
import { createEmbeddedServer } from './embedded-server.ts';
import type { EmbeddedServer } from './embedded-server.ts';
import { migrate, SchemaTooNew, SchemaTooOld } from './migrate.ts';

/** A later migration; it alters `list_sources`. */
const TABLE_CHANGE = '0002_table-change';

let root: string;
/** Directory with the schema of 0.1.0 and the later migration. */
let dir: string;
let lock: DataDirLock;
let server: EmbeddedServer;
/** The only connections in this test, because a Weir server would notice missing tables, connect again and migrate. */
let pool: pg.Pool;
beforeAll(async () => {
  root = makeTempDir();
  dir = join(root, 'migrations');
  const schema = new URL('../../../migrations/0001_schema.sql', import.meta.url);
  cpSync(fileURLToPath(schema), join(dir, '0001_schema.sql'));
  writeFileSync(
    join(dir, `${TABLE_CHANGE}.sql`),
    '-- Up Migration\nALTER TABLE list_sources ADD COLUMN later text;\n',
  );
  const dataDir = join(root, 'data');
  await layCluster(dataDir);
  lock = lockDataDir(dataDir);
  server = createEmbeddedServer(lock, new MemoryLogger());
  pool = new pg.Pool(await server.ensureRunning());
  // Errors are ignored, because some connections are still being closed when the server stops.
  pool.on('connect', (client) => void client.on('error', () => undefined));
  // Also ignored: an idle connection reports to the pool that the server has ended.
  pool.on('error', () => undefined);
});
afterAll(async () => {
  await pool.end();
  await server.stop();
  lock.release();
  rmSync(root, { recursive: true, force: true });
});

async function withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    return await work(client);
  } finally {
    client.release();
  }
}

async function tables(): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

/** Migrates with the migrations of the test. */
function run(logger = new MemoryLogger(), count = Infinity): Promise<string[]> {
  return withClient((client) => migrate(client, logger, { dir, count }));
}

/** Empties the database, as if no Weir server had used it. */
async function empty(): Promise<void> {
  await pool.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
}

describe('migrate()', () => {
  test('returns no migrations for a second node', async () => {
    const again = await withClient((client) => migrate(client, new MemoryLogger()));
    expect(again).toEqual([]);
  });

  test('creates the schema with the group Default, and upgrades it', async () => {
    await empty();
    const logger = new MemoryLogger();
    expect(await run(logger, 1)).toEqual(['0001_schema']);
    expect(await run(logger)).toEqual([TABLE_CHANGE]);
    expect(logger.lines.filter(({ level }) => level === 'info')).toEqual([
      { level: 'info', message: 'database schema created', fields: { version: 1 } },
      { level: 'info', message: 'database schema upgraded', fields: { from: 1, to: 2 } },
    ]);
    const { rows } = await pool.query('SELECT id, name FROM groups');
    expect(rows).toEqual([{ id: 1, name: 'Default' }]);
  });

  test('refuses a schema that is newer than the program, and changes nothing', async () => {
    const add = `INSERT INTO schema_migrations (name, run_on) VALUES ('9999_from-the-future', now())`;
    await pool.query(add);
    const before = await tables();
    const refused = run();
    await expect(refused).rejects.toBeInstanceOf(SchemaTooNew);
    await expect(refused).rejects.toThrow(
      /newer than this version of Weir, which does not know 9999_from-the-future/,
    );
    expect(await tables()).toEqual(before);
    await pool.query(`DELETE FROM schema_migrations WHERE name = '9999_from-the-future'`);
  });

  test('refuses a database from before 0.1.0, and changes nothing', async () => {
    await empty();
    await pool.query(`
      CREATE TABLE schema_migrations (id serial PRIMARY KEY, name varchar(255) NOT NULL, run_on timestamp NOT NULL);
      INSERT INTO schema_migrations (name, run_on) VALUES ('0001_groups', now()), ('0047_judged-copies', now());
      CREATE TABLE groups (id integer PRIMARY KEY, name text NOT NULL)`);
    const refused = run();
    await expect(refused).rejects.toBeInstanceOf(SchemaTooOld);
    await expect(refused).rejects.toThrow(
      /older than 0\.1\.0 and was not changed.*"weir backup FILE".*"weir restore FILE"/,
    );
    expect(await tables()).toEqual(['groups', 'schema_migrations']);
    expect((await pool.query('SELECT FROM schema_migrations')).rowCount).toBe(2);
  });

  test('runs each migration once if several nodes start at the same time', async () => {
    await empty();
    const runs = await Promise.all([1, 2, 3].map(() => run()));
    expect(runs.filter((names) => names.length > 0)).toEqual([['0001_schema', TABLE_CHANGE]]);
  });

  test('releases its lock on a table in use, so that other transactions continue, and retries', async () => {
    await empty();
    await run(new MemoryLogger(), 1);
    const logger = new MemoryLogger();
    const { migrating } = await withClient(async (reader) => {
      await reader.query('BEGIN; SELECT FROM list_sources');
      const migrating = withClient(async (client) => {
        const names = await migrate(client, logger, { dir });
        const { rows } = await client.query('SHOW lock_timeout');
        return { names, rows };
      });
      await until(
        'the migration to give way',
        () => logger.lines,
        (lines) => lines.some(({ message }) => message.includes('a table is in use')),
      );
      await pool.query('UPDATE list_sources SET name = name');
      await reader.query('COMMIT');
      return { migrating };
    });
    const { names, rows } = await migrating;
    expect(names).toEqual([TABLE_CHANGE]);
    expect(rows).toEqual([{ lock_timeout: '0' }]);
  });
});
