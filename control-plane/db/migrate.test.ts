import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { layCluster } from '../../test/support/parts/made-cluster.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { makeTempDir } from '../../test/support/parts/test-database.ts';
import { until } from '../../test/support/parts/until.ts';
import { lockDataDir } from './data-dir-lock.ts';
import type { DataDirLock } from './data-dir-lock.ts';
import { createEmbeddedServer } from './embedded-server.ts';
import type { EmbeddedServer } from './embedded-server.ts';
import { migrate, SchemaTooNew } from './migrate.ts';

/** It alters `list_sources`. */
const TABLE_CHANGE = '0044_files-of-nodes';
const TABLE_CHANGE_NUMBER = 44;

let root: string;
let lock: DataDirLock;
let server: EmbeddedServer;
/** The only connections: a Weir would miss its tables, connect again and migrate. */
let pool: pg.Pool;
beforeAll(async () => {
  root = makeTempDir();
  const dataDir = join(root, 'data');
  await layCluster(dataDir);
  lock = lockDataDir(dataDir);
  server = createEmbeddedServer(lock, new MemoryLogger());
  pool = new pg.Pool(await server.ensureRunning());
  // Some are still being closed when the server stops.
  pool.on('connect', (client) => void client.on('error', () => undefined));
  // An idle one reports it to the pool.
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

/** What the schema consists of, a part a line; the order of columns, which a way back cannot keep, is no part of it. */
async function schema(): Promise<string[]> {
  const { rows } = await pool.query<{ part: string }>(`
    WITH relation AS (SELECT * FROM pg_class WHERE relnamespace = 'public'::regnamespace)
    SELECT concat_ws(' ', relname, relkind, reloptions) AS part FROM relation
    UNION ALL SELECT concat_ws(' ', relname, attname, format_type(atttypid, atttypmod), attnotnull, attstorage,
        pg_get_expr(adbin, adrelid))
      FROM pg_attribute JOIN relation ON relation.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      WHERE attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'p', 'v')
    UNION ALL SELECT concat_ws(' ', relname, pg_get_constraintdef(pg_constraint.oid))
      FROM pg_constraint JOIN relation ON relation.oid = conrelid
    UNION ALL SELECT pg_get_indexdef(oid) FROM relation WHERE relkind IN ('i', 'I')
    UNION ALL SELECT pg_get_triggerdef(pg_trigger.oid) FROM pg_trigger JOIN relation ON relation.oid = tgrelid
      WHERE NOT tgisinternal
    UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT pg_get_viewdef(oid) FROM relation WHERE relkind = 'v'
    ORDER BY part`);
  return rows.map(({ part }) => part);
}

/** Goes one migration on, or back. */
async function step(direction: 'up' | 'down'): Promise<string | undefined> {
  const run = { direction, count: 1 };
  const [name] = await withClient((client) => migrate(client, new MemoryLogger(), run));
  return name;
}

describe('migrate()', () => {
  test('migrate() leaves nothing to do for a second node', async () => {
    const again = await withClient((client) => migrate(client, new MemoryLogger()));
    expect(again).toEqual([]);
  });

  test('migrate() goes all the way down and up again to the same schema, with the group Default', async () => {
    const before = await tables();
    const logger = new MemoryLogger();
    const down = await withClient((client) => migrate(client, logger, { direction: 'down' }));
    expect(await tables()).toEqual(['schema_migrations']);
    const up = await withClient((client) => migrate(client, logger, { direction: 'up' }));
    expect(up).toEqual([...down].reverse());
    expect(logger.lines.filter(({ level }) => level === 'info')).toEqual([
      { level: 'info', message: 'database schema downgraded', fields: { from: up.length, to: 0 } },
      { level: 'info', message: 'database schema created', fields: { version: up.length } },
    ]);
    expect(await tables()).toEqual(before);
    const { rows } = await pool.query('SELECT id, name FROM groups');
    expect(rows).toEqual([{ id: 1, name: 'Default' }]);
  });

  test('migrate() goes back from each migration to the schema before it', async () => {
    while ((await step('down')) !== undefined);
    const before: string[][] = [];
    const names: string[] = [];
    for (;;) {
      before.push(await schema());
      const name = await step('up');
      if (name === undefined) break;
      names.push(name);
    }
    for (const name of names.reverse()) {
      before.pop();
      expect(await step('down')).toBe(name);
      expect([name, await schema()]).toEqual([name, before.at(-1)]);
    }
    await withClient((client) => migrate(client, new MemoryLogger()));
  });

  test('migrate() refuses a schema that is newer than the program, and changes nothing', async () => {
    const add = `INSERT INTO schema_migrations (name, run_on) VALUES ('9999_from-the-future', now())`;
    await pool.query(add);
    const before = await tables();
    const run = withClient((client) => migrate(client, new MemoryLogger()));
    await expect(run).rejects.toBeInstanceOf(SchemaTooNew);
    await expect(run).rejects.toThrow(/newer than this weir, which does not know 9999_from-the-future/);
    expect(await tables()).toEqual(before);
    await pool.query(`DELETE FROM schema_migrations WHERE name = '9999_from-the-future'`);
  });

  test('migrate() by several nodes at once runs each migration once', async () => {
    const logger = new MemoryLogger();
    await withClient((client) => migrate(client, logger, { direction: 'down' }));
    const runs = await Promise.all([1, 2, 3].map(() => withClient((client) => migrate(client, logger))));
    expect(runs.filter((names) => names.length > 0)).toHaveLength(1);
  });

  test('migrate() gives way to who waits behind it for a table in use, and tries again', async () => {
    while ((await step('down')) !== TABLE_CHANGE);
    const logger = new MemoryLogger();
    const run = await withClient(async (reader) => {
      await reader.query('BEGIN; SELECT FROM list_sources');
      const migrating = withClient(async (client) => {
        const names = await migrate(client, logger);
        const { rows } = await client.query('SHOW lock_timeout');
        return { names, rows };
      });
      await until(
        'the migration to give way',
        () => logger.lines,
        (lines) => lines.some(({ message }) => message.includes('others use a table')),
      );
      await pool.query('UPDATE list_sources SET name = name');
      await reader.query('COMMIT');
      return { migrating };
    });
    const { names, rows } = await run.migrating;
    expect(names).toContain(TABLE_CHANGE);
    const change = { from: TABLE_CHANGE_NUMBER - 1, to: TABLE_CHANGE_NUMBER + names.length - 1 };
    expect(logger.lines).toContainEqual({
      level: 'info',
      message: 'database schema upgraded',
      fields: change,
    });
    expect(rows).toEqual([{ lock_timeout: '0' }]);
  });
});
