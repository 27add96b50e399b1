/** Conversion of requests to the form of the API. */
import { describe, expect, test } from '@jest/globals';
import type { DatabaseStatus } from '../../storage/db/database.ts';
import { type LogQuestions, logQuestions } from './log-questions.ts';
import type { Scans } from './log-scans.ts';

const ever = new AbortController().signal;
const FILTER = { limit: 1, offset: 0, from: null, to: null };
const ROW = { client: '192.0.2.7', client_hostname: null };
const UP: DatabaseStatus = { state: 'up', server: 'embedded', error: null };

function questions(flush: () => Promise<void>, status = UP): { questions: LogQuestions; asked: string[] } {
  const asked: string[] = [];
  const scans = {
    ask: async (name: string) => {
      asked.push(name);
      return { data: [ROW] };
    },
    async *rows() {
      yield [ROW];
    },
  } as unknown as Scans;
  const database = { status: () => status };
  const hostnameOf = (address: string): string => `host of ${address}`;
  return { asked, questions: logQuestions({ scans, database, flush, hostnameOf }) };
}

describe('logQuestions()', () => {
  test('waits until the rows in memory are stored before it reads the log', async () => {
    const stored = Promise.withResolvers<undefined>();
    const { questions: log, asked } = questions(() => stored.promise);
    const page = log.page(FILTER, ever);
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked).toEqual([]);
    stored.resolve(undefined);
    await page;
    expect(asked).toEqual(['page']);
  });

  test('reads the log without the latest rows if they cannot be stored in time', async () => {
    const { questions: log, asked } = questions(() => new Promise(() => undefined));
    await log.page(FILTER, ever);
    await log.page(FILTER, AbortSignal.abort());
    expect(asked).toEqual(['page', 'page']);
  });

  test('reads the log immediately while the database is down', async () => {
    const flush = () => Promise.reject(new Error('stored'));
    const down = { ...UP, state: 'down' as const };
    const { questions: log, asked } = questions(flush, down);
    await log.page(FILTER, ever);
    expect(asked).toEqual(['page']);
  });

  test('adds host names to the rows of pages and exports', async () => {
    const { questions: log } = questions(() => Promise.resolve());
    const named = { client: '192.0.2.7', client_hostname: 'host of 192.0.2.7' };
    expect((await log.page(FILTER, ever)).data).toEqual([named]);
    expect((await Array.fromAsync(log.rows(FILTER, ever))).flat()).toEqual([named]);
  });
});
