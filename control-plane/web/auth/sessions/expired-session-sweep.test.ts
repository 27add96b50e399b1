import { describe, expect, test } from '@jest/globals';
import { until, within } from '../../../../test/support/parts/until.ts';
import { DatabaseUnavailable } from '../../../storage/db/database-errors.ts';
import type { Logger } from '../../../../shared/log.ts';
import { startExpiredSessionSweep } from './expired-session-sweep.ts';

function collectErrors(): { logger: Logger; errors: string[] } {
  const errors: string[] = [];
  const nothing = (): void => undefined;
  const logger: Logger = {
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: (message) => void errors.push(message),
    child: () => logger,
  };
  return { logger, errors };
}

/** Runs the sweep until it has been called `times` times, each failing with `failure`; returns the errors it logged. */
async function sweepTimes(times: number, failure?: Error): Promise<string[]> {
  const { logger, errors } = collectErrors();
  let count = 0;
  const removeExpired = async (): Promise<void> => {
    count++;
    if (failure !== undefined) throw failure;
  };
  const stop = startExpiredSessionSweep({ removeExpired }, logger, 1);
  await until(
    `sweep ${String(times)}`,
    () => count,
    (now) => now >= times,
  );
  await stop();
  return errors;
}

describe('startExpiredSessionSweep()', () => {
  test('deletes expired sessions periodically', async () => {
    expect(await sweepTimes(3)).toEqual([]);
  });

  test('continues if the database is unavailable, and logs nothing', async () => {
    expect(await sweepTimes(3, new DatabaseUnavailable('down'))).toEqual([]);
  });

  test('continues after an error, and logs it', async () => {
    const errors = await sweepTimes(2, new Error('bug'));
    expect(errors.length).toBeGreaterThanOrEqual(2);
    expect(new Set(errors)).toEqual(new Set(['could not remove expired sessions']));
  });

  test('never runs twice at the same time, and stop() waits for the active run', async () => {
    const { logger } = collectErrors();
    const { promise: finish, resolve: letFinish } = Promise.withResolvers<undefined>();
    const { promise: started, resolve: hasStarted } = Promise.withResolvers<undefined>();
    const events: string[] = [];
    const removeExpired = async (): Promise<void> => {
      events.push('started');
      hasStarted(undefined);
      await finish;
      events.push('finished');
    };
    const stop = startExpiredSessionSweep({ removeExpired }, logger, 1);
    await within('the first sweep', started);
    const stopped = stop().then(() => events.push('stopped'));
    letFinish(undefined);
    await stopped;
    expect(events).toEqual(['started', 'finished', 'stopped']);
  });
});
