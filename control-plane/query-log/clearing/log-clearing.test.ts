import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { emptyLog, storedRows, storeRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { JobLeases } from '../../storage/cluster/leases.ts';
import type { Database, DatabaseStatus } from '../../storage/db/database.ts';
import { insertClear, readClears } from './clear-store.ts';
import { LogClearing } from './log-clearing.ts';

const AT_MS = Date.now() - 3_600_000;

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(async () => {
  await emptyLog(own.database);
  for (const second of [0, 1, 2])
    await storeRows(
      own.database,
      [1, 2, 3].map((x) =>
        logRow({ timestampMs: AT_MS + second * 1000 + x, client: Uint8Array.of(192, 0, 2, x) }),
      ),
    );
});
afterAll(() => own.stop());

/** A test clock that starts at the current time. */
function newClock(): TestClock {
  const clock = new TestClock();
  clock.wallMs = Date.now();
  return clock;
}

function clearingOf(node: string, database: Database = own.database, clock = newClock()): LogClearing {
  const logger = new MemoryLogger();
  const jobs = new JobLeases({ database, logger, node: `00000000-0000-4000-8000-00000000000${node}` });
  return new LogClearing({ database, logger, jobs, clock, rollupDays: () => 400 });
}

/** Requests that the queries of a client are cleared. */
async function want(x: number, to = new Date()): Promise<void> {
  const client = { id: x, ids: [x], name: `client ${x}`, addresses: [`192.0.2.${x}`] };
  await own.database.transaction((tx) => insertClear(tx, { by: 'test', from: null, to, client }));
}

const states = async (): Promise<unknown[]> =>
  (await readClears(own.database)).map(({ state, rows }) => [state, rows]);

describe('LogClearing', () => {
  test('runs each requested deletion once, even if two nodes start at the same time', async () => {
    const nodes = ['a', 'b'].map((node) => clearingOf(node));
    await want(1);
    nodes[0]!.wake();
    await want(2);
    nodes[1]!.wake();
    nodes[1]!.wake();
    await Promise.all(nodes.map((node) => node.settled()));
    for (const node of nodes) node.wake();
    await Promise.all(nodes.map((node) => node.settled()));
    expect(await states()).toEqual([
      ['done', 3],
      ['done', 3],
    ]);
    expect((await storedRows(own.database)).map(({ client }) => client)).toEqual(['192.0.2.3', '192.0.2.3', '192.0.2.3']); // prettier-ignore
    for (const node of nodes) await node.start()();
  });

  test('continues after a lost database or a restart, when the database is up', async () => {
    let state: DatabaseStatus['state'] = 'down';
    let report: (status: DatabaseStatus) => void = () => undefined;
    const database = Object.assign(Object.create(own.database) as Database, {
      status: () => ({ ...own.database.status(), state }),
      onStatus: (listener: typeof report) => {
        report = listener;
        return () => undefined;
      },
    });
    const clearing = clearingOf('c', database);
    await want(1);
    const stop = clearing.start();
    await clearing.settled();
    expect(await states()).toEqual([['running', 0]]);
    state = 'up';
    report(database.status());
    await clearing.settled();
    expect(await states()).toEqual([['done', 3]]);
    await stop();
  });

  test('forgets a finished deletion when no more statistics or late rows of its period can exist', async () => {
    const clock = newClock();
    const clearing = clearingOf('d', own.database, clock);
    await want(1);
    clearing.wake();
    await clearing.settled();
    expect(await readClears(own.database)).toMatchObject([{ state: 'done', client_id: 1 }]);
    clock.advance(401 * 86_400_000);
    await want(2, new Date(clock.nowMs()));
    clearing.wake();
    await clearing.settled();
    expect(await readClears(own.database)).toMatchObject([{ state: 'done', client_id: 2 }]);
  });
});
