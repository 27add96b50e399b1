/** Runs a request as the thread does, but in this thread. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { emptyLog, storeRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase, type TestDatabase } from '../../../test/support/parts/test-database.ts';
import { until } from '../../../test/support/parts/until.ts';
import type { Background } from '../../storage/db/database.ts';
import type { BlockTransaction } from '../search/block-transaction.ts';
import type { Question } from './questions.ts';
import type { FromScans } from './scan-messages.ts';
import { ScanRun } from './scan-run.ts';

const START_MS = Date.UTC(2026, 6, 5, 12);
const BLOCKS = 30;
const SEARCH: Question = { name: 'page', argument: { limit: 10, offset: 0, domain: 'example' } };

let own: TestDatabase;
let sent: FromScans[] = [];
let statements = 0;
/** Called before each statement about blocks. */
let beforeStatement = (): void => undefined;

beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());
afterEach(async () => {
  [sent, statements] = [[], 0];
  beforeStatement = () => undefined;
  await emptyLog(own.database);
});

const work: Pick<Background, 'read'> = {
  read: (read) =>
    own.database.background().read((tx) => {
      const count = (): void => {
        statements++;
        beforeStatement();
      };
      const counted: BlockTransaction = {
        query: (text, values) => {
          count();
          return tx.query(text, values);
        },
        copyOut: (query) => {
          count();
          return tx.copyOut(query);
        },
      };
      return read(counted);
    }),
};

async function store(): Promise<void> {
  for (let block = 0; block < BLOCKS; block++)
    await storeRows(own.database, [logRow({ timestampMs: START_MS + block * 3_600_000 })]);
}

function ask(question: Question): ScanRun {
  const { database } = own;
  return new ScanRun({ type: 'ask', id: 7, question, server: database.target() }, work, (message) =>
    sent.push(message),
  );
}

describe('ScanRun', () => {
  test('sends the result of its request', async () => {
    await store();
    await ask(SEARCH).ended;
    expect(sent).toMatchObject([{ type: 'answer', id: 7, answer: { total: BLOCKS } }]);
    expect(statements).toBeGreaterThan(BLOCKS / 2);
  });

  test('cancel() ends the run before its next block, and no result is sent', async () => {
    await store();
    const run = ask(SEARCH);
    beforeStatement = () => {
      if (statements === 2) run.cancel();
    };
    await run.ended;
    expect(statements).toBe(2);
    expect(sent).toEqual([]);
  });

  test('cancel() before the start of a run leaves the log unread', async () => {
    const runs = Array.from({ length: 5 }, () => ask(SEARCH));
    for (const run of runs) run.cancel();
    await Promise.all(runs.map(({ ended }) => ended));
    expect([statements, sent]).toEqual([0, []]);
  });

  test('sends rows only as fast as they are consumed', async () => {
    await storeRows(
      own.database,
      Array.from({ length: 2000 }, (_, i) => logRow({ timestampMs: START_MS + i })),
    );
    const run = ask({ name: 'rows', argument: { from: null, to: null } });
    const parts = (): number => sent.filter(({ type }) => type === 'part').length;
    await until('four parts', parts, (count) => count >= 4);
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    expect(parts()).toBe(4);
    for (let i = 0; i < 4; i++) run.more();
    await run.ended;
    expect(sent.map(({ type }) => type)).toEqual([...Array.from({ length: 8 }, () => 'part'), 'answer']);
  });

  test('reports that the database is unavailable', async () => {
    beforeStatement = () => {
      throw Object.assign(new Error('gone'), { code: 'ECONNRESET' });
    };
    await ask(SEARCH).ended;
    expect(sent).toMatchObject([{ type: 'failure', id: 7, failure: { kind: 'database-unavailable' } }]);
  });
});
