/**
 * An exported day of the query log, read by DuckDB with the query in docs/monitoring.md; its counts equal Weir's
 * statistics. DuckDB (70 MB) is installed from the npm registry for this trial only.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { JobLeases } from '../../control-plane/storage/cluster/leases.ts';
import { DayExport } from '../../control-plane/query-log/parquet-export/day-export.ts';
import { readSummary, readTopDomains } from '../../control-plane/query-log/statistics/stats-store.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { logRow, wireName } from '../support/parts/log-row.ts';
import { MemoryLogger } from '../support/parts/memory-logger.ts';
import { logSourceOf, questionsOf, storeRows } from '../support/parts/stored-log.ts';
import { startTestDatabase, type TestDatabase } from '../support/parts/test-database.ts';
import { run } from './trial-parts.ts';

const GUIDE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'monitoring.md'), 'utf8');
const DAY = { fromMs: Date.UTC(2026, 6, 5), toMs: Date.UTC(2026, 6, 6) };
const ROWS = 100_000;
const NAMES = 300;
const READ = `const { DuckDBInstance } = await import(process.argv[1]);
const connection = await (await DuckDBInstance.create()).connect();
const rows = (await connection.runAndReadAll(process.argv[2])).getRows();
console.log(JSON.stringify(rows, (key, value) => (typeof value === 'bigint' ? Number(value) : value)));`;

const workDir = mkdtempSync(join(tmpdir(), 'weir-parquet-'));
let own: TestDatabase;
beforeAll(async () => {
  run('npm', 'install', '--prefix', workDir, '--no-audit', '--no-fund', '@duckdb/node-api');
  own = await startTestDatabase();
});
afterAll(async () => {
  await own.stop();
  rmSync(workDir, { recursive: true, force: true });
});

/** Rows that DuckDB returns for a query. */
function asked(sql: string): unknown[][] {
  const library = join(workDir, 'node_modules/@duckdb/node-api/lib/index.js');
  const args = ['--input-type=module', '--eval', READ, library, sql];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as unknown[][];
}

test("the query in docs/monitoring.md makes DuckDB count the same queries as Weir's statistics", async () => {
  const rows = Array.from({ length: ROWS }, (_, i) =>
    logRow({
      timestampMs: DAY.fromMs + Math.floor((i * (DAY.toMs - DAY.fromMs)) / ROWS),
      client: Uint8Array.of(192, 0, 2, i % 50),
      // The first names are the most frequent names, each with a different count.
      qname: wireName(`n${String(Math.floor(NAMES * (i / ROWS) ** 2))}.example.org`),
      status: i % 3 === 0 ? QueryStatus.BLOCKED_LIST : QueryStatus.CACHED,
      cached: i % 3 !== 0,
    }),
  );
  await storeRows(own.database, rows);
  const { database } = own;
  const logger = new MemoryLogger();
  const jobs = new JobLeases({ database, logger, node: '00000000-0000-4000-8000-000000000001' });
  await new DayExport({
    database,
    jobs,
    queryLog: questionsOf(database),
    folder: () => workDir,
    logger,
  }).turn(new AbortController().signal);

  const files = join(workDir, '*.parquet');
  const log = logSourceOf(database);
  const summary = await readSummary(log, DAY);
  const counts = `count(*), count(*) FILTER (status LIKE 'BLOCKED%'), count(DISTINCT client), count(DISTINCT domain)`;
  const { queries_total, queries_blocked, clients, unique_domains } = summary;
  expect(queries_total).toBe(ROWS);
  expect(asked(`SELECT ${counts} FROM '${files}'`)).toEqual([
    [queries_total, queries_blocked, clients, unique_domains],
  ]);
  const [, line] = /^duckdb -c "(.*)"$/m.exec(GUIDE)!;
  const top = asked(line!.replace('/srv/weir/queries/*.parquet', files));
  const blocked = await readTopDomains(log, { ...DAY, limit: top.length, which: 'blocked' });
  expect(top.map(([, count]) => count)).toEqual(blocked.map(({ count }) => count));
  expect(top).toHaveLength(20);
});
