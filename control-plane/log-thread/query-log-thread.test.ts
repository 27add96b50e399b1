import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { LogRing } from '../../shared/query-log.ts';
import { LOG_SETTINGS, RunningLogThread } from '../../test/support/parts/running-log-thread.ts';
import { until } from '../../test/support/parts/until.ts';

const log = new RunningLogThread();

describe('QueryLogThread', () => {
  test('if log_pressure is slow, delays the writers of a nearly full ring while the thread runs', async () => {
    const isSlow = (): boolean => log.control[LogRing.SLOW_WORD] === 1;
    const seen = [isSlow()];
    log.start();
    seen.push(isSlow());
    log.thread.use({ ...LOG_SETTINGS, pressure: 'drop' });
    seen.push(isSlow());
    log.thread.use(LOG_SETTINGS);
    seen.push(isSlow());
    await log.thread.close();
    seen.push(isSlow());
    expect(seen).toEqual([false, true, false, true, false]);
  });

  test('creates a missing partition with the role that owns the tables', async () => {
    log.start();
    log.answer(['far.example'], { arrivedMs: Date.UTC(2031, 1, 2) });
    expect(await log.storedDomains()).toEqual(['far.example']);
  });

  test('is replaced when it dies: records in the rings are stored, and rows in its memory are counted as lost', async () => {
    log.start();
    log.answer(['stored.example']);
    await log.thread.flush();
    log.answer(['lost.example', 'gone.example']);
    await until('the rows to be gathered', () => log.thread.counters().waiting === 2);
    log.thread.injectFault();
    await until('the death to be reported', () => log.logger.lines.some(({ level }) => level === 'error'));
    log.answer(['kept.example']);
    await log.untilStored(2);
    expect(await log.storedDomains()).toEqual(['kept.example', 'stored.example']);
    expect(log.logger.lines.find(({ level }) => level === 'error')).toMatchObject({
      message: 'query log thread died; replacing it',
      fields: { rows_lost: 2 },
    });
    expect(log.thread.counters()).toMatchObject({ written: 2, dropped: 2, waiting: 0 });
    const { rows } = await log.database.query<{ stored: string; next_seq: number }>(
      'SELECT stored::text, next_seq FROM query_runs WHERE key = $1',
      [log.thread.run.key],
    );
    expect(rows).toEqual([{ stored: '{[0,1),[3,4)}', next_seq: 4 }]);
  });

  test('writes rows to the spool while it may not store them in the database, and stores them later', async () => {
    log.thread.allowStoring(false);
    log.start();
    log.answer(['early.example']);
    await log.thread.flush();
    await until('the row to be spooled', () => log.thread.counters().spooled === 1);
    expect(readdirSync(join(log.dataDir, 'spool'))).toHaveLength(1);
    log.thread.allowStoring(true);
    log.answer(['late.example']);
    await log.untilStored(2);
    expect(await log.storedDomains()).toEqual(['early.example', 'late.example']);
  });

  test('closes after all published records are stored or spooled', async () => {
    log.thread.allowStoring(false);
    log.start();
    log.answer(['one.example', 'two.example']);
    await log.thread.stopReading();
    await log.thread.close();
    expect(log.thread.counters()).toMatchObject({ spooled: 2, dropped: 0 });
    expect(readdirSync(join(log.dataDir, 'spool'))).toHaveLength(1);
  });
});
