import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import { onDatabaseUp } from './on-up.ts';
import { serversOn } from './postgres/postgres-process.ts';

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());

describe('onDatabaseUp()', () => {
  test('retries a failed task while the database is up, and logs that', async () => {
    const logger = new MemoryLogger();
    let attempts = 0;
    const stop = onDatabaseUp(own.database, logger, 'do it', () => {
      attempts++;
      return attempts < 3 ? Promise.reject(new Error('not yet')) : Promise.resolve();
    });
    await until(
      'the third attempt',
      () => attempts,
      (now) => now === 3,
    );
    await stop();
    expect(attempts).toBe(3);
    const reported = logger.lines.filter(({ message }) => message === 'could not do it; retrying later');
    expect(reported.map(({ fields }) => fields['reason'])).toEqual(['not yet', 'not yet']);
  });

  test('repeats its task when the database is up again, but not after it was stopped', async () => {
    let runs = 0;
    const stop = onDatabaseUp(own.database, new MemoryLogger(), 'do it', async () => {
      await own.database.query('SELECT 1');
      runs++;
    });
    await until(
      'the first run',
      () => runs,
      (now) => now === 1,
    );
    const restart = async (): Promise<void> => {
      const isDown = Promise.withResolvers<undefined>();
      const off = own.database.onStatus(({ state }) => {
        if (state === 'down') isDown.resolve(undefined);
      });
      for (const pid of serversOn(`${own.dataDir}/postgres/cluster`)) process.kill(pid, 'SIGKILL');
      await within('the database to be down', isDown.promise);
      off();
      await own.database.whenUp();
    };
    await restart();
    await until(
      'the second run',
      () => runs,
      (now) => now === 2,
    );
    await stop();
    await restart();
    await own.database.query('SELECT 1');
    expect(runs).toBe(2);
  });
});
