import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestDatabase, type TestDatabase } from '../../../test/support/parts/test-database.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import type { Question } from './questions.ts';
import { type ScanRequest, ScanWorker } from './scan-worker.ts';

const NEWEST: Question = { name: 'page', argument: { limit: 1, offset: 0 } };

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());

function asked(signal = new AbortController().signal): ScanRequest {
  return { question: NEWEST, lane: 'quick', server: own.database.target(), signal };
}

/** Starts a thread; returns it with the events that it reports to its owner. */
function start(): { worker: ScanWorker; events: string[] } {
  const events: string[] = [];
  const worker = new ScanWorker(64, {
    damaged: () => events.push('damaged'),
    log: () => undefined,
    idle: () => events.push('idle'),
    ended: () => {
      events.push('ended');
      return new DatabaseUnavailable('ended');
    },
  });
  return { worker, events };
}

describe('ScanWorker', () => {
  test('returns results, emits "idle" when no request is left, and ends', async () => {
    const { worker, events } = start();
    const answers = [worker.ask(1, asked()), worker.ask(2, asked())];
    expect([worker.count('quick'), worker.count('scan')]).toEqual([2, 0]);
    expect(await Promise.all(answers)).toMatchObject([{ total: 0 }, { total: 0 }]);
    expect([worker.count('quick'), events]).toEqual([0, ['idle']]);
    await worker.end();
    expect(events).toEqual(['idle', 'ended']);
  });

  test('end() rejects open requests', async () => {
    const { worker } = start();
    const answer = worker.ask(1, asked());
    answer.catch(() => undefined);
    await worker.end();
    await expect(answer).rejects.toThrow('ended');
  });

  test('rejects an aborted request immediately', async () => {
    const { worker } = start();
    const gone = new AbortController();
    const answer = worker.ask(1, asked(gone.signal));
    gone.abort(new Error('gone'));
    await expect(answer).rejects.toThrow('gone');
    expect(worker.count('quick')).toBe(0);
    await worker.end();
  });
});
