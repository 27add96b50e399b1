import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { parquetReadObjects } from 'hyparquet';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { emptyLog, questionsOf, storeRows } from '../../../test/support/parts/stored-log.ts';
import {
  makeTempDir,
  startTestDatabase,
  type TestDatabase,
} from '../../../test/support/parts/test-database.ts';
import { ClearRun } from '../clearing/clear-run.ts';
import { insertClear, nextOpenClear } from '../clearing/clear-store.ts';
import { JobLeases } from '../../storage/cluster/leases.ts';
import { DayExport } from './day-export.ts';

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 6, 5, 12);
const { signal } = new AbortController();

let own: TestDatabase;
let folder: string;
beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(() => {
  folder = join(makeTempDir(), 'export');
});
afterAll(() => own.stop());
afterEach(async () => {
  rmSync(join(folder, '..'), { recursive: true, force: true });
  await emptyLog(own.database);
  await own.database.query(`DELETE FROM meta WHERE starts_with(key, 'exported:')`);
});

/** Stores rows on day number `day`, counted from the first one, from a node. */
function storeDay(day: number, count: number, nodeId = 1): Promise<void> {
  const rowAt = (i: number) =>
    logRow({ timestampMs: START_MS + day * DAY_MS + i * 1000, qname: wireName(`n${i}.example.org`) });
  return storeRows(
    own.database,
    Array.from({ length: count }, (_, i) => rowAt(i)),
    nodeId,
  );
}

/** The export of a node. */
function exporting(node = '00000000-0000-4000-8000-000000000001', to = folder): DayExport {
  const { database } = own;
  const logger = new MemoryLogger();
  const jobs = new JobLeases({ database, logger, node });
  return new DayExport({ database, jobs, queryLog: questionsOf(database), folder: () => to, logger });
}

async function rowsIn(file: string): Promise<Record<string, unknown>[]> {
  return parquetReadObjects({ file: new Uint8Array(readFileSync(join(folder, file))).buffer });
}

describe('DayExport', () => {
  test('turn() writes each finished day of all nodes once, with every row', async () => {
    await storeDay(0, 300);
    await storeDay(0, 200, 2);
    await storeDay(1, 50);
    const others = ['2', '3'].map((node) => exporting(`00000000-0000-4000-8000-00000000000${node}`));
    await Promise.all([exporting(), ...others].map((each) => each.turn(signal)));
    expect(readdirSync(folder).sort()).toEqual([
      'weir-queries-2026-07-05.parquet',
      'weir-queries-2026-07-06.parquet',
    ]);
    expect(await rowsIn('weir-queries-2026-07-05.parquet')).toHaveLength(500);
    expect((await rowsIn('weir-queries-2026-07-06.parquet')).map(({ domain }) => domain)).toContain(
      'n49.example.org',
    );
    const written = statSync(join(folder, 'weir-queries-2026-07-05.parquet')).ino;
    await exporting().turn(signal);
    expect(statSync(join(folder, 'weir-queries-2026-07-05.parquet')).ino).toBe(written);
  });

  test('turn() writes a day again when a node that was disconnected has stored its remaining rows', async () => {
    await storeDay(0, 10);
    await exporting().turn(signal);
    await storeDay(0, 5, 2);
    await exporting().turn(signal);
    expect(await rowsIn('weir-queries-2026-07-05.parquet')).toHaveLength(15);
  });

  test('turn() writes a day again without deleted rows, and deletes its file if no row is left', async () => {
    const clear = async (day: number, seconds: number): Promise<void> => {
      const from = new Date(Date.UTC(2026, 6, 5 + day));
      const to = new Date(START_MS + day * DAY_MS + seconds * 1000);
      await own.database.transaction((tx) => insertClear(tx, { by: 'test', from, to, client: null }));
      const open = (await nextOpenClear(own.database))!;
      await new ClearRun({ database: own.database, logger: new MemoryLogger() }, open, signal).finish();
    };
    for (const day of [0, 1, 2, 3]) await storeDay(day, 20);
    await exporting().turn(signal);
    await clear(1, 5);
    await clear(0, DAY_MS / 2000);
    await clear(2, 100);
    await exporting().turn(signal);
    expect(readdirSync(folder).sort()).toEqual([
      'weir-queries-2026-07-06.parquet',
      'weir-queries-2026-07-08.parquet',
    ]);
    expect(await rowsIn('weir-queries-2026-07-06.parquet')).toHaveLength(15);
  });

  test('turn() does not mark a day as written if writing failed, and writes it later', async () => {
    await storeDay(0, 10);
    const missing = '/dev/null/export';
    await expect(exporting(undefined, missing).turn(signal)).rejects.toThrow('ENOTDIR');
    await exporting().turn(signal);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  test('turn() does not write the current day, and writes nothing if no export directory is configured', async () => {
    // The row is on the day of the next minute, which cannot end during the test.
    await storeRows(own.database, [logRow({ timestampMs: Date.now() + 60_000 })]);
    await exporting(undefined, '').turn(signal);
    await exporting().turn(signal);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('trouble() reports why the export directory is not writable, until it becomes writable', async () => {
    await storeDay(0, 1);
    const days = exporting();
    writeFileSync(folder, 'a file in its place');
    await expect(days.turn(signal)).rejects.toThrow('EEXIST');
    expect(days.trouble()).toMatch(/^could not export finished days of the query log: EEXIST/);
    rmSync(folder);
    await days.turn(signal);
    expect([days.trouble(), days.failures()]).toEqual([null, 1]);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  test('trouble() is null after another node has taken over the export', async () => {
    const days = exporting(undefined, '/dev/null/export');
    await expect(days.turn(signal)).rejects.toThrow('ENOTDIR');
    const other = { ...own, node: '00000000-0000-4000-8000-000000000002' };
    await new JobLeases(other).hold('export the query log', () => days.turn(signal));
    expect(days.trouble()).toBeNull();
  });
});
