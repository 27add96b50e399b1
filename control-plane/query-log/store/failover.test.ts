/** The query log while a standby replaces the primary of the database. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { storedRows } from '../../../test/support/parts/stored-log.ts';
import { makeTempDir } from '../../../test/support/parts/test-database.ts';
import { until } from '../../../test/support/parts/until.ts';
import {
  type ReplicatedDatabase,
  startReplicatedDatabase,
} from '../../../test/support/weir/replicated-database.ts';
import { type DataDirLock, lockDataDir } from '../../storage/db/data-dir-lock.ts';
import { type Database, startDatabase } from '../../storage/db/database.ts';
import { LogWriter } from './log-writer.ts';

const MINUTE_SUM = `SELECT coalesce(sum(queries), 0)::integer AS queries FROM query_counts WHERE grain = 'm'`;

let dir: string;
let pair: ReplicatedDatabase;
let lock: DataDirLock;
let logger: MemoryLogger;
let closers: (() => Promise<void>)[];

beforeEach(async () => {
  dir = makeTempDir();
  lock = lockDataDir(join(dir, 'node'));
  logger = new MemoryLogger();
  closers = [];
  pair = await startReplicatedDatabase(join(dir, 'servers'));
});
afterEach(async () => {
  for (const close of closers.reverse()) await close();
  await pair[Symbol.asyncDispose]();
  lock.release();
  rmSync(dir, { recursive: true, force: true });
});

async function open(urls: string): Promise<Database> {
  const database = startDatabase({ urls, lock, logger });
  closers.push(() => database.close());
  await database.whenUp();
  return database;
}

function openWriter(database: Database): { writer: LogWriter; append: (rows: number) => Promise<void> } {
  const dataDir = join(dir, 'spool');
  mkdirSync(dataDir, { recursive: true });
  const writer = new LogWriter({ database, dataDir, nodeId: 7, logger, privacy: () => 'full' });
  closers.push(() => writer.close());
  let appended = 0;
  return {
    writer,
    async append(rows) {
      for (let i = 0; i < rows; i++) writer.append(logRow({ responseTimeUs: appended++ }));
      await writer.flush();
    },
  };
}

/** Expects that every row is stored once, and that the counts have the same total. */
async function expectStored(database: Database, rows: number): Promise<void> {
  const times = (await storedRows(database)).map((row) => row.response_time_us);
  expect(times.sort((a, b) => a - b)).toEqual(Array.from({ length: rows }, (_, i) => i));
  expect((await database.query(MINUTE_SUM)).rows).toEqual([{ queries: rows }]);
}

test('rows that only the failed primary had stored are sent to the promoted standby once', async () => {
  const database = await open(pair.url);
  const { writer, append } = openWriter(database);
  await append(100);
  await pair.cutOff();
  await append(200);
  expect(writer.counters()).toMatchObject({ written: 300, spooled: 0 });
  await pair.failOver();
  await append(50);
  const flushed = async (): Promise<{ written: number }> => {
    await writer.flush();
    return writer.counters();
  };
  await until('every row to be stored', flushed, ({ written }) => written === 350);
  await expectStored(database, 350);
  expect(writer.counters()).toMatchObject({ dropped: 0, refused: 0, waiting: 0 });
});

test('a failover behind a connection pooler is detected by the PostgreSQL timeline', async () => {
  const [primary, standby] = [
    await open(pair.urls.primary),
    startDatabase({ urls: pair.urls.standby, lock, logger }),
  ];
  closers.push(() => standby.close());
  let behind = primary;
  // Behaves like a connection pooler: the same connection leads to another server without notice.
  const pooled: Database = {
    ...primary,
    status: () => ({ state: 'up', server: 'pooler', error: null }),
    onStatus: () => () => undefined,
    whenUp: () => Promise.resolve(),
    query: (text, values) => behind.query(text, values),
    transaction: (work) => behind.transaction(work),
    transactionInTurn: (lock, work) => behind.transactionInTurn(lock, work),
    transactionAsOwner: (work) => behind.transactionAsOwner(work),
    withClient: (work) => behind.withClient(work),
    close: () => Promise.resolve(),
  };
  const { writer, append } = openWriter(pooled);
  await pair.cutOff();
  await append(300);
  await pair.failOver();
  await standby.whenUp();
  behind = standby;
  await append(20);
  await until(
    'every row to be stored',
    () => writer.counters(),
    ({ written }) => written === 320,
  );
  await expectStored(standby, 320);
  expect(logger.text()).toContain('the database was replaced');
});
