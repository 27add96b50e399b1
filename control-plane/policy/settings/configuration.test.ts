/**
 * The configuration of nodes: how files and rows are combined at start, at a reload, and after changes by other nodes.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { parseConfig } from '../../../config/parse-config.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { openSuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { SYSTEM } from '../../api/caller.ts';
import type { Database, DatabaseStatus } from '../../storage/db/database.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import { PolicyChanges } from '../change/change.ts';
import { readConfigRows } from './config-store.ts';
import { Configuration } from './configuration.ts';

const AUTHOR = { name: 'admin', address: null };

let suite: SuiteDatabase;
let folders: string[];
/** Whether the database of all nodes is unavailable. */
let isAway: boolean;
let logger: MemoryLogger;

beforeAll(async () => {
  suite = await openSuiteDatabase();
});
beforeEach(async () => {
  await suite.reset();
  folders = [];
  isAway = false;
  logger = new MemoryLogger();
});
afterEach(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});
afterAll(() => suite.close());

/** A database that rejects all calls while `isAway` is true. */
function databaseOf(): Database {
  const away = (): never => {
    throw new DatabaseUnavailable('away');
  };
  const down: DatabaseStatus = { state: 'down', server: 'embedded', error: 'away' };
  return new Proxy(suite.database, {
    get: (target, name) => {
      if (isAway && name === 'status') return () => down;
      if (isAway && (name === 'query' || name === 'transactionInTurn')) return async () => away();
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** A node. Its directory contains its configuration file and its data, so that it can be started again. */
class TestNode {
  readonly folder: string;
  configuration!: Configuration;
  changes!: PolicyChanges;
  applied = 0;

  constructor(toml: string) {
    this.folder = mkdtempSync(join(tmpdir(), 'weir-configuration-'));
    folders.push(this.folder);
    this.write(toml);
    this.start();
  }

  get path(): string {
    return join(this.folder, 'weir.toml');
  }

  get text(): string {
    return readFileSync(this.path, 'utf8');
  }

  write(toml: string): void {
    writeFileSync(this.path, toml);
  }

  /** Starts the node, possibly again. */
  start(env: Record<string, string> = {}): Configuration {
    const loaded = parseConfig({ file: { name: this.path, text: this.text }, env });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.faults));
    const database = databaseOf();
    const parts = { loaded: loaded.value, dataDir: this.folder, database, logger };
    this.configuration = new Configuration(parts);
    const apply = async (): Promise<void> => {
      await this.follow();
      this.applied++;
    };
    this.changes = new PolicyChanges(database, { apply, threadsBehind: () => 0 });
    return this.configuration;
  }

  /** Reacts as if the rows had changed. */
  async follow(): Promise<void> {
    await this.configuration.follow(readRows);
  }

  /** Reacts as if the database had become available. */
  settle(): Promise<void> {
    return this.configuration.settle(this.changes);
  }

  get cache() {
    return this.configuration.current().cache;
  }
}

async function readRows() {
  return { config: await readConfigRows(suite.database) };
}

async function startNode(toml: string): Promise<TestNode> {
  const node = new TestNode(toml);
  await node.settle();
  return node;
}

describe('Configuration settle()', () => {
  test('creates the rows from the file of the first node, and a second node uses these rows', async () => {
    const first = await startNode('cache.min_ttl_secs = 5\n[server]\nworkers = 2\n');
    expect(await readConfigRows(suite.database)).toEqual({ 'cache.min_ttl_secs': 5 });
    const second = await startNode('cache.min_ttl_secs = 6\ncache.max_ttl_secs = 60\n');
    expect(second.cache).toMatchObject({ min_ttl_secs: 5, max_ttl_secs: 86400 });
    expect(second.configuration.sources()).toMatchObject({
      'cache.min_ttl_secs': 'database',
      'cache.max_ttl_secs': 'default',
      'server.workers': 'default',
    });
    expect(first.configuration.sources()['server.workers']).toBe('file');
  });

  test('creates no revision for the values of the first file, so no rollback can go back beyond them', async () => {
    const node = await startNode('[blocking]\nmode = "nodata"\n');
    const count = async (table: string): Promise<number> =>
      (await suite.database.query(`SELECT FROM ${table}`)).rows.length;
    expect([await count('revisions'), await count('policy_changes'), await count('audit_log')]).toEqual([
      0, 0, 0,
    ]);
    await node.configuration.change(node.changes, AUTHOR, { 'blocking.mode': 'refused' });
    expect([await count('revisions'), await count('audit_log')]).toEqual([1, 1]);
  });

  test('stores in the rows only the lines of the file that a user changed before a restart', async () => {
    const node = await startNode('[cache]\nmin_ttl_secs = 5\nmax_ttl_secs = 60\n');
    const other = await startNode('');
    await other.configuration.change(other.changes, AUTHOR, {
      'cache.min_ttl_secs': 9,
      'cache.max_ttl_secs': 90,
    });
    node.start();
    expect(node.cache).toMatchObject({ min_ttl_secs: 5, max_ttl_secs: 60 }); // The values that it remembers.
    await node.settle();
    expect(node.cache).toMatchObject({ min_ttl_secs: 9, max_ttl_secs: 90 });
    node.write('[cache]\nmin_ttl_secs = 7\nmax_ttl_secs = 60\n');
    node.start();
    expect(node.cache).toMatchObject({ min_ttl_secs: 7, max_ttl_secs: 90 });
    await node.settle();
    expect(node.cache).toMatchObject({ min_ttl_secs: 7, max_ttl_secs: 90 });
    expect(await readConfigRows(suite.database)).toMatchObject({ 'cache.min_ttl_secs': 7 });
    const { rows } = await suite.database.query('SELECT actor FROM audit_log ORDER BY id DESC LIMIT 1');
    expect(rows).toEqual([{ actor: 'system' }]);
  });

  test('keeps the rows if the file contradicts them, and logs that', async () => {
    const node = await startNode('[cache]\nmax_ttl_secs = 60\n');
    const other = await startNode('');
    await other.configuration.change(other.changes, AUTHOR, { 'cache.min_ttl_secs': 50 });
    node.write('[cache]\nmax_ttl_secs = 40\n');
    node.start();
    await node.settle();
    expect(node.cache).toMatchObject({ min_ttl_secs: 50, max_ttl_secs: 60 });
    expect(logger.text()).toContain('cache.min_ttl_secs: expected at most cache.max_ttl_secs (40)');
  });
});

describe('a node without a database', () => {
  test('starts with the rows that it stored last, and with edits of its file since then', async () => {
    const node = await startNode('[cache]\nmin_ttl_secs = 5\n');
    await node.configuration.change(node.changes, AUTHOR, { 'cache.max_ttl_secs': 60 });
    isAway = true;
    node.write(node.text.replace('min_ttl_secs = 5', 'min_ttl_secs = 6'));
    node.start();
    expect(node.cache).toMatchObject({ min_ttl_secs: 6, max_ttl_secs: 60 });
  });

  test('starts with its file if it has stored no rows, or if the stored rows are unreadable', async () => {
    isAway = true;
    const node = new TestNode('[cache]\nmin_ttl_secs = 5\n');
    expect(node.cache.min_ttl_secs).toBe(5);
    writeFileSync(join(node.folder, 'config-state.json'), '{"file":');
    expect(node.start().current().cache.min_ttl_secs).toBe(5);
    expect(logger.text()).toContain('could not read the last configuration; using the file');
  });

  test('changes neither the file nor the rows nor the active configuration', async () => {
    const node = await startNode('[cache]\nmin_ttl_secs = 5\n');
    const { text } = node;
    isAway = true;
    for (const values of [{ 'cache.min_ttl_secs': 6 }, { 'cache.max_bytes': 2097152 }]) {
      const change = node.configuration.change(node.changes, AUTHOR, values);
      await expect(change).rejects.toThrow(DatabaseUnavailable);
    }
    await expect(node.configuration.reload(node.changes, AUTHOR)).rejects.toThrow(DatabaseUnavailable);
    expect([node.text, node.cache.min_ttl_secs]).toEqual([text, 5]);
    isAway = false;
    expect(await readConfigRows(suite.database)).toEqual({ 'cache.min_ttl_secs': 5 });
  });

  test('repeats the reload of a signal when the database is back', async () => {
    const node = await startNode('[cache]\nmin_ttl_secs = 5\n');
    isAway = true;
    node.write('[cache]\nmin_ttl_secs = 6\n');
    await node.configuration.reloadLater(node.changes);
    expect(node.cache.min_ttl_secs).toBe(5);
    isAway = false;
    await node.settle();
    expect(node.cache.min_ttl_secs).toBe(6);
  });
});

describe('Configuration reloadLater()', () => {
  test('keeps the active configuration if the file is invalid, and logs each fault', async () => {
    const node = await startNode('[cache]\nmin_ttl_secs = 5\n');
    node.write('[cache]\nmin_ttl_secs = "x"\nmax = 1\n');
    await node.configuration.reloadLater(node.changes);
    expect(node.cache.min_ttl_secs).toBe(5);
    expect(logger.text()).toMatch(/line 2: expected .* line 3: no such key/);
    expect(node.configuration.reloadFault()).toMatch(/line 2: expected/);
    node.write('[cache]\nmin_ttl_secs = 6\n');
    await node.configuration.reloadLater(node.changes);
    expect(node.configuration.reloadFault()).toBeNull();
    expect(node.cache.min_ttl_secs).toBe(6);
    const { rows } = await suite.database.query(`SELECT actor, before, after FROM audit_log`);
    expect(rows).toEqual([
      { actor: SYSTEM.name, before: { 'cache.min_ttl_secs': 5 }, after: { 'cache.min_ttl_secs': 6 } },
    ]);
  });
});

describe('Configuration follow()', () => {
  test('keeps the configuration of a node if the rows are invalid', async () => {
    const node = await startNode('[cache]\nmin_ttl_secs = 5\n');
    await suite.database.query(`INSERT INTO config_values VALUES ('cache.max_ttl_secs', '"soon"')`);
    await node.follow();
    expect(node.cache).toMatchObject({ min_ttl_secs: 5, max_ttl_secs: 86400 });
    expect(logger.text()).toContain('cache.max_ttl_secs: expected a whole number');
    await suite.database.query(`UPDATE config_values SET value = '70' WHERE key = 'cache.max_ttl_secs'`);
    await node.follow();
    expect(node.cache.max_ttl_secs).toBe(70);
  });

  test('ignores rows that were read before settle() wrote the file to the database', async () => {
    const node = new TestNode('[cache]\nmin_ttl_secs = 5\n');
    await node.configuration.follow(async () => {
      const early = await readRows();
      await node.settle();
      return early;
    });
    expect(node.cache.min_ttl_secs).toBe(5);
  });
});

describe('an environment variable', () => {
  test('overrides rows and file on its node only, which keeps all other values', async () => {
    const node = await startNode('[cache]\nmin_ttl_secs = 5\n');
    node.start({ WEIR_CACHE_MIN_TTL_SECS: '8' });
    await node.settle();
    expect(node.cache.min_ttl_secs).toBe(8);
    expect(node.configuration.sources()['cache.min_ttl_secs']).toBe('environment');
    const refused = node.configuration.change(node.changes, AUTHOR, { 'cache.min_ttl_secs': 9 });
    await expect(refused).rejects.toThrow('cache.min_ttl_secs by WEIR_CACHE_MIN_TTL_SECS');
    node.write('[cache]\nmin_ttl_secs = 6\n');
    await node.configuration.reload(node.changes, AUTHOR);
    expect(node.cache.min_ttl_secs).toBe(8);
    expect(await readConfigRows(suite.database)).toEqual({ 'cache.min_ttl_secs': 6 });
  });
});

describe('a configuration without a file', () => {
  test('accepts cluster keys, and refuses node keys', async () => {
    const node = await startNode('');
    const { config, given } = loadNothing();
    const parts = { loaded: { config, file: undefined, given }, dataDir: node.folder };
    const configuration = new Configuration({ ...parts, database: suite.database, logger });
    const apply = async (): Promise<void> => {
      await configuration.follow(readRows);
    };
    const changes = new PolicyChanges(suite.database, { apply, threadsBehind: () => 0 });
    await configuration.change(changes, AUTHOR, { 'cache.min_ttl_secs': 9 });
    expect(configuration.current().cache.min_ttl_secs).toBe(9);
    const refused = configuration.change(changes, AUTHOR, { 'logging.level': 'debug' });
    await expect(refused).rejects.toThrow('Weir has no configuration file');
    expect(await configuration.reload(changes, AUTHOR)).toEqual({ restart_required: [] });
  });
});

function loadNothing() {
  const loaded = parseConfig({ file: undefined, env: {} });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.faults));
  return loaded.value;
}
