import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { systemClock } from '../../../shared/clock.ts';
import { storeBatch } from './batch-store.ts';
import { CopyEncoder, DAY_MS } from './copy-encoder.ts';
import { newBatch } from './log-batch.ts';
import { startLogMaintenance } from './log-maintenance.ts';
import { ensurePartitions, listPartitions, partitionOf, summarizePartition } from './partition-store.ts';

const TODAY = Date.UTC(2026, 6, 5) / DAY_MS;
let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());

describe('partitionOf()', () => {
  test('partitionOf() names the day in UTC', () => {
    expect(partitionOf(TODAY)).toBe('query_log_20260705');
  });
});

describe('ensurePartitions()', () => {
  test('ensurePartitions() makes a day once, by however many nodes at the same time', async () => {
    await Promise.all([1, 2, 3].map(() => ensurePartitions(own.database, [TODAY - 100, TODAY - 99])));
    expect(await listPartitions(own.database)).toEqual([TODAY - 100, TODAY - 99]);
  });

  test('ensurePartitions() does not wait for somebody who reads the log', async () => {
    await own.database.transaction(async (tx) => {
      await tx.query('SELECT count(*) FROM query_log');
      await ensurePartitions(own.database, [TODAY - 98]);
    });
    expect(await listPartitions(own.database)).toContain(TODAY - 98);
  });
});

describe('startLogMaintenance()', () => {
  test('startLogMaintenance() works at once and ends when it is told to', async () => {
    const logger = new MemoryLogger();
    const today = Math.floor(Date.now() / DAY_MS);
    const stop = startLogMaintenance({
      database: own.database,
      clock: systemClock,
      logger,
      queryLogDays: () => 30,
    });
    await stop();
    expect(await listPartitions(own.database)).toEqual(expect.arrayContaining([today, today + 1]));
    expect(logger.lines.filter(({ level }) => level !== 'info')).toEqual([]);
  });
});

describe('summarizePartition()', () => {
  test('summarizePartition() lets the index on time leave out the pages of other hours', async () => {
    const encoder = new CopyEncoder(1);
    for (let i = 0; i < 20_000; i++)
      encoder.encode(logRow({ timestampMs: TODAY * DAY_MS + i * 4000 }), 'full');
    await storeBatch(own.database, newBatch(encoder.take()), { durable: true });
    await summarizePartition(own.database, TODAY);
    const plan = await own.database.transaction(async (tx) => {
      await tx.query('SET LOCAL enable_seqscan = off');
      const { rows } = await tx.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, BUFFERS OFF)
         SELECT * FROM query_log WHERE "timestamp" >= '2026-07-05 10:00Z' AND "timestamp" < '2026-07-05 10:10Z'`,
      );
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    });
    const removed = Number(/Rows Removed by Index Recheck: (\d+)/.exec(plan)?.[1]);
    expect(plan).toContain('Bitmap Index Scan');
    expect(removed).toBeLessThan(5000);
  });
});
