import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClientBase } from 'pg';
import {
  debianPostgres,
  layOlderCluster,
  useOlderCluster,
} from '../../../../test/support/parts/older-cluster.ts';
import { withOwner } from '../../../../test/support/parts/made-cluster.ts';
import {
  makeTempDir,
  startTestDatabase,
  type TestDatabase,
} from '../../../../test/support/parts/test-database.ts';
import { asOwner } from '../../../../test/support/parts/as-owner.ts';
import { until, within } from '../../../../test/support/parts/until.ts';
import { sumUp } from '../copy/copy-across.ts';
import { findPostgresPackage, majorOf } from '../postgres/postgres-runtime.ts';
import { listPartitions, listTables } from './relations.ts';

const installed = majorOf(findPostgresPackage().version);
const { major: earlier } = debianPostgres();

const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Fills a database with policy, counts, and a log of `days` days, each with `blocks` blocks of 32 KiB. */
async function fill(client: ClientBase, days: number, blocks: number): Promise<void> {
  await client.query(`
    INSERT INTO groups (name) VALUES ('Kinder'), ('Gäste');
    INSERT INTO meta (key, value) VALUES ('first_source_seeded', 'true');
    INSERT INTO query_runs (key, node_id, last_seq, stored) VALUES
      ('00000000-0000-4000-8000-000000000001', 1, 999, '{[0,1000)}');
    INSERT INTO query_counts SELECT 'm', now() - n * interval '1 minute', 1, n, 1, 2, 3, 0, '{"type:1": 5}'
      FROM generate_series(1, 500) AS n;
    INSERT INTO policy_changes (table_name, key) SELECT 'groups', n FROM generate_series(1, 5000) AS n`);
  for (let day = 0; day < days; day++) {
    await client.query(`
      CREATE TABLE query_blocks_2026010${day + 1} PARTITION OF query_blocks
        FOR VALUES FROM ('2026-01-0${day + 1}') TO ('2026-01-0${day + 2}');
      INSERT INTO query_blocks SELECT '2026-01-0${day + 1}', 1, ${day} * 1000 + n, 10, 1, '2026-01-0${day + 1}',
        '2026-01-0${day + 1} 01:00Z', '2026-01-0${day + 1} 02:00Z', '{1,2}', '{3,4}', '\\x01', '\\x02',
        (SELECT string_agg(sha256(('${day} ' || n || ' ' || i)::bytea), '') FROM generate_series(1, 1024) AS i), NULL
        FROM generate_series(1, ${blocks}) AS n`);
  }
}

/** All rows of a database by table, with the log as one table. */
async function contentOf(client: ClientBase): Promise<Record<string, string>> {
  const content: Record<string, string> = {};
  for (const { name, route } of [...(await listTables(client)), ...(await listPartitions(client))])
    content[name] = await sumUp(client, route);
  return content;
}

/** A cluster of an earlier version with rows, which is created once, and its content. */
const template = makeTempDir();
let content: Record<string, string> = {};
beforeAll(() =>
  layOlderCluster(join(template, 'data'), async (client) => {
    await fill(client, 4, 60);
    content = await contentOf(client);
  }),
);
afterAll(() => rmSync(template, { recursive: true, force: true }));

/** Creates a data directory with a copy of this cluster. */
function copyOlder(): string {
  const root = makeTempDir();
  cleanUps.push(() => rmSync(root, { recursive: true, force: true }));
  execFileSync('cp', ['-a', join(template, 'data'), root]);
  return join(root, 'data');
}

/** Opens the database of a Weir server on a data directory. */
async function openDatabase(dataDir: string): Promise<TestDatabase> {
  const opened = await startTestDatabase(dataDir);
  cleanUps.push(() => opened.stop());
  return opened;
}

async function majorOn({ database }: TestDatabase): Promise<number> {
  const { rows } = await database.query<{ server_version: string }>('SHOW server_version');
  return majorOf(rows[0]!.server_version);
}

/** Starts a Weir server in another process, and kills it with SIGKILL as soon as the condition is true. */
async function killWhen(dataDir: string, isSoFar: () => boolean): Promise<void> {
  const program = fileURLToPath(new URL('../../../../test/support/parts/own-database.ts', import.meta.url));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, dataDir], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'close');
  await until('the upgrade to come that far', isSoFar);
  child.kill('SIGKILL');
  await within('the killed Weir to end', ended);
}

describe('createEmbeddedServer() with a cluster of an earlier major version', () => {
  test('moves all rows to the installed version, and those of the log while the database is in use', async () => {
    const dataDir = copyOlder();
    const own = await openDatabase(dataDir);
    expect(await majorOn(own)).toBe(installed);
    const { rows } = await own.database.query('SELECT name FROM groups ORDER BY id');
    expect(rows).toEqual([{ name: 'Default' }, { name: 'Kinder' }, { name: 'Gäste' }]);
    await until(
      'the query log to be moved',
      () => own.database.status(),
      ({ upgrade }) => upgrade === undefined,
    );
    expect(await withOwner(dataDir, contentOf)).toEqual(content);
    await own.database.query(`INSERT INTO groups (name) VALUES ('after')`); // The new group must get the next id.
    expect(existsSync(join(dataDir, 'postgres', 'cluster.before'))).toBe(false);
    expect(own.logger.text()).toContain(`moved the query log from PostgreSQL ${earlier}`);
  });

  test('continues after it was killed, without lost or duplicate rows', async () => {
    const dataDir = copyOlder();
    const folder = join(dataDir, 'postgres');
    await killWhen(dataDir, () => existsSync(join(folder, 'cluster.next', 'PG_VERSION')));
    await killWhen(dataDir, () => existsSync(join(folder, 'cluster.before', 'postmaster.pid')));
    const own = await openDatabase(dataDir);
    await until(
      'the query log to be moved',
      () => own.database.status(),
      ({ upgrade }) => upgrade === undefined,
    );
    expect(await withOwner(dataDir, contentOf)).toEqual(content);
  });

  test('keeps the earlier version, and reports why, if the database contains tables that Weir did not create', async () => {
    const dataDir = copyOlder();
    await useOlderCluster(dataDir, (client) => client.query('CREATE TABLE notes (n integer)'));
    const own = await openDatabase(dataDir);
    expect(await majorOn(own)).toBe(earlier);
    expect(own.database.status()).toMatchObject({ state: 'up', upgrade: { isStuck: true } });
    expect(own.database.status().upgrade?.detail).toMatch(
      new RegExp(
        `^stays at PostgreSQL ${earlier} until the next start: tables .* that Weir did not create would be lost: .*relation notes n integer`,
      ),
    );
    await asOwner(own.database, 'DROP TABLE notes');
    await own.database.close();
    own.lock.release();
    expect(await majorOn(await openDatabase(dataDir))).toBe(installed);
  });
});
