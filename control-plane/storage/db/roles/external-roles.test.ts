import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryLogger } from '../../../../test/support/parts/memory-logger.ts';
import { makeTempDir } from '../../../../test/support/parts/test-database.ts';
import { until } from '../../../../test/support/parts/until.ts';
import { type SharedDatabase, startSharedDatabase } from '../../../../test/support/weir/shared-database.ts';
import {
  ensurePartitions,
  listFilledPartitions,
  listPartitions,
} from '../../../query-log/store/partition-store.ts';
import { type DataDirLock, lockDataDir } from '../data-dir-lock.ts';
import { type Database, startDatabase } from '../database.ts';

const root = makeTempDir();
let server: SharedDatabase;
let lock: DataDirLock;
const opened: Database[] = [];
beforeAll(async () => {
  server = await startSharedDatabase(join(root, 'server'));
  lock = lockDataDir(join(root, 'node'));
  await server.rows(
    `CREATE ROLE keeper LOGIN PASSWORD 'of-keeper'; CREATE ROLE asker LOGIN PASSWORD 'of-asker'`,
  );
  await server.rows('CREATE DATABASE weir OWNER keeper');
});
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close();
});
afterAll(async () => {
  lock.release();
  await server[Symbol.asyncDispose]();
  rmSync(root, { recursive: true });
});

function urlOf(role: string, password = `of-${role}`): string {
  const url = new URL(server.url);
  Object.assign(url, { username: role, password, pathname: '/weir' });
  return url.toString();
}

function open(urls: string, ownerUrls?: string): { database: Database; logger: MemoryLogger } {
  const logger = new MemoryLogger();
  const database = startDatabase({ urls, lock, logger, ...(ownerUrls !== undefined && { ownerUrls }) });
  opened.push(database);
  return { database, logger };
}

const untilDown = (database: Database): Promise<{ error: string | null; server: string }> =>
  until(
    'the database to be down',
    () => database.status(),
    ({ state }) => state === 'down',
  );

describe('startDatabase() with roles that a user created', () => {
  test('migrates with database.owner_url, and lets the role of database.url access only rows', async () => {
    const { database } = open(urlOf('asker'), urlOf('keeper'));
    await database.whenUp();
    expect(database.status()).not.toHaveProperty('excess');
    await ensurePartitions(database, [20_000]);
    await database.query(`INSERT INTO groups (name) VALUES ('Kinder')`);
    expect((await database.query('SELECT current_user AS name')).rows).toEqual([{ name: 'asker' }]);
    for (const sql of ['CREATE TABLE another ()', 'DROP TABLE groups', 'CREATE TEMPORARY TABLE another ()'])
      await expect(database.query(sql)).rejects.toMatchObject({ code: '42501' });
  });

  test('reads the passwords of the two roles from database.owner_password_file and database.password_file', async () => {
    const files = ['asker', 'keeper'].map((role) => join(root, `password-${role}`));
    for (const [place, role] of ['asker', 'keeper'].entries())
      writeFileSync(files[place]!, `of-${role}\n`, { mode: 0o600 });
    const [passwordFile, ownerPasswordFile] = files as [string, string];
    const database = startDatabase({
      ...{ urls: urlOf('asker', ''), ownerUrls: urlOf('keeper', ''), lock, logger: new MemoryLogger() },
      urlKeys: { sslmode: '', sslrootcert: '', passwordFile, ownerPasswordFile },
    });
    opened.push(database);
    await database.whenUp();
    expect((await database.query('SELECT current_user AS name')).rows).toEqual([{ name: 'asker' }]);
    const owner = database.transactionAsOwner((tx) => tx.query('SELECT current_user AS name'));
    expect((await owner).rows).toEqual([{ name: 'keeper' }]);
  });

  test('lets a node with one role create partitions that a node with two roles uses', async () => {
    const { database: two } = open(urlOf('asker'), urlOf('keeper'));
    const { database: one } = open(urlOf('keeper'));
    await Promise.all([one.whenUp(), two.whenUp()]);
    expect(one.status()).not.toHaveProperty('excess');
    await ensurePartitions(one, [20_001]);
    expect(await listPartitions(two)).toContain(20_001);
    expect(await listFilledPartitions(two)).toEqual([]);
  });

  test('explains the remedy if the role of database.url was removed, and uses the role when it exists again', async () => {
    const { database: before } = open(urlOf('asker'), urlOf('keeper'));
    await before.whenUp();
    await before.transactionAsOwner((tx) => tx.query('REVOKE ALL ON ALL TABLES IN SCHEMA public FROM asker'));
    await before.close();
    await server.rows('ALTER ROLE asker RENAME TO gone');
    const { database } = open(urlOf('asker'), urlOf('keeper'));
    expect((await untilDown(database)).error).toBe(
      'the role "asker" of database.url does not exist: create it again with its password, as by CREATE ROLE asker LOGIN',
    );
    await server.rows(`ALTER ROLE gone RENAME TO asker; ALTER ROLE asker PASSWORD 'of-asker'`);
    await database.whenUp();
    expect((await database.query('SELECT FROM groups')).rowCount).toBeGreaterThan(0);
  });

  test('reports which role cannot connect, without its password', async () => {
    const { database, logger } = open(urlOf('asker', 'wrong-secret'), urlOf('keeper'));
    expect((await untilDown(database)).error).toMatch(
      /^could not connect with the role of database.url: .*"asker"$/,
    );
    expect(JSON.stringify(logger.lines)).not.toContain('secret');
  });

  test('names the server that failed, if there are several', async () => {
    const nowhere = 'postgres://asker@127.0.0.1:9/weir';
    const lacking = open(`${nowhere},${urlOf('nobody-here')}`, `${nowhere},${urlOf('keeper')}`);
    const { error, server: named } = await untilDown(lacking.database);
    expect([error, named]).toEqual([
      expect.stringMatching(/^the role "nobody-here" of database.url does not exist/),
      expect.stringContaining('nobody-here@'),
    ]);
    const absent = open(`${nowhere},${nowhere}/other`);
    expect((await untilDown(absent.database)).server).toBe(`${nowhere}, ${nowhere}/other`);
  });

  test.each([
    ['a superuser', () => [urlOf('weir', new URL(server.url).password)], /^queries run as a superuser/],
    [
      'two roles of which one owns the tables',
      () => [urlOf('keeper'), urlOf('keeper')],
      /can become the one of database.owner_url$/,
    ],
  ])('warns about %s', async (_what, urls, warning) => {
    const { database, logger } = open(...(urls() as [string]));
    await database.whenUp();
    expect(database.status().excess).toMatch(warning);
    expect(logger.text()).toContain(database.status().excess);
  });
});
