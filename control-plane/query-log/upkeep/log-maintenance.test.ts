import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../shared/clock.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { JobLeases } from '../../storage/cluster/leases.ts';
import { DAY_MS } from '../store/block-gatherer.ts';
import { listPartitions } from '../store/partition-store.ts';
import { startLogMaintenance } from './log-maintenance.ts';

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());

describe('startLogMaintenance()', () => {
  test('starts immediately, and ends when it is stopped', async () => {
    const logger = new MemoryLogger();
    const startedOn = Math.floor(Date.now() / DAY_MS);
    const stop = startLogMaintenance({
      database: own.database,
      jobs: new JobLeases({ database: own.database, logger, node: randomUUID() }),
      clock: systemClock,
      logger,
      nodeId: 7,
      dayExport: { turn: () => Promise.resolve() },
      queryLogDays: () => 30,
      rollupDays: () => 400,
    });
    await stop();
    const partitions = await listPartitions(own.database);
    // The test may run across midnight.
    const days = [startedOn, Math.floor(Date.now() / DAY_MS)].map((day) => [day, day + 1]);
    expect(days.some((two) => two.every((day) => partitions.includes(day)))).toBe(true);
    expect(logger.lines.filter(({ level }) => level !== 'info')).toEqual([]);
  });
});
