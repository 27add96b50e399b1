/** Questions about the log. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { LogSource } from './log-source.ts';

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());

describe('LogSource', () => {
  test('read() waits for what was gathered until now', async () => {
    const order: string[] = [];
    const flush = async (): Promise<void> => {
      await own.database.query('SELECT 1');
      order.push('stored');
    };
    const log = new LogSource({ database: own.database, logger: own.logger, flush });
    await log.read(async () => void order.push('read'));
    expect(order).toEqual(['stored', 'read']);
  });

  test('read() goes on without rows that cannot be stored in time', async () => {
    const flush = (): Promise<void> => new Promise(() => undefined);
    const log = new LogSource({ database: own.database, logger: own.logger, flush });
    const { rows } = await log.read((tx) => tx.query('SELECT 7 AS seven'));
    expect(rows).toEqual([{ seven: 7 }]);
  });

  test('onDamaged() reports each block once', () => {
    const logger = new MemoryLogger();
    const log = new LogSource({ database: own.database, logger, flush: () => Promise.resolve() });
    for (const block of ['1.0', '1.0', '2.0']) log.onDamaged(block, 'checksum of frame 0');
    expect(logger.lines.map(({ level }) => level)).toEqual(['error', 'error']);
    expect(logger.text()).toContain('2.0');
  });
});
