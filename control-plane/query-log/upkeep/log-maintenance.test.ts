import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../shared/clock.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { DAY_MS } from '../store/block-gatherer.ts';
import { listPartitions } from '../store/partition-store.ts';
import { startLogMaintenance } from './log-maintenance.ts';

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());

describe('startLogMaintenance()', () => {
  test('works at once and ends when it is told to', async () => {
    const logger = new MemoryLogger();
    const today = Math.floor(Date.now() / DAY_MS);
    const stop = startLogMaintenance({
      database: own.database,
      clock: systemClock,
      logger,
      queryLogDays: () => 30,
      rollupDays: () => 400,
    });
    await stop();
    expect(await listPartitions(own.database)).toEqual(expect.arrayContaining([today, today + 1]));
    expect(logger.lines.filter(({ level }) => level !== 'info')).toEqual([]);
  });
});
