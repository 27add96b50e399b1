import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { emptyLog, logSourceOf, storeRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { readSums } from '../statistics/stats-store.ts';
import { DAY_MS } from '../store/block-gatherer.ts';
import { dropPartitions } from '../store/partition-store.ts';
import { startOf } from '../top-lists/list-parts.ts';
import { NameFolding } from '../upkeep/name-folding.ts';
import { clearListsWithoutRows, daysWithin, takesDay } from './clear-days.ts';

const DAY_US = DAY_MS * 1000;
/** Two neighbouring days of a past month. */
const FIRST = startOf('M', startOf('M', Date.now()) - 1) / DAY_MS + 3;

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(async () => {
  await emptyLog(own.database);
  for (const day of [FIRST, FIRST + 1])
    await storeRows(
      own.database,
      [1, 2, 2].map((x) =>
        logRow({
          timestampMs: day * DAY_MS + x,
          client: Uint8Array.of(192, 0, 2, x),
          qname: wireName(`n${day - FIRST}.test`),
        }),
      ),
      7,
    );
  await new NameFolding({ database: own.database, logger: new MemoryLogger(), nodeId: 7 }).turn('own');
  await dropPartitions(own.database, [FIRST, FIRST + 1]);
});
afterAll(() => own.stop());

/** Counts of names and clients for each day and for the month. */
async function sums(): Promise<unknown> {
  const month = startOf('M', FIRST * DAY_MS);
  const spans = [
    [FIRST * DAY_MS, (FIRST + 1) * DAY_MS],
    [(FIRST + 1) * DAY_MS, (FIRST + 2) * DAY_MS],
    [month, startOf('M', month + 40 * DAY_MS)],
  ] as const;
  return logSourceOf(own.database).read(async (tx) => {
    const all: unknown[] = [];
    for (const [fromMs, toMs] of spans) {
      const { names, clients } = await readSums(tx, { fromMs, toMs }, () => undefined);
      all.push([
        names.top(9, 'resolved').map(([name]) => name),
        [...clients].map(([client]) => client).sort(),
      ]);
    }
    return all;
  });
}

const BOTH = ['192.0.2.1', '192.0.2.2'];

describe('clearListsWithoutRows()', () => {
  test('removes the top lists of days within the period, also from the top list of the month', async () => {
    const span = { fromUs: FIRST * DAY_US, toUs: (FIRST + 2) * DAY_US - 1, device: null };
    await clearListsWithoutRows(own.database, span);
    expect(await sums()).toEqual([
      [[], []],
      [['n1.test'], BOTH],
      [['n1.test'], BOTH],
    ]);
  });

  test('removes a client from top lists, and keeps names, which are counted by group', async () => {
    const device = { ids: [9], addresses: ['192.0.2.1'] };
    await clearListsWithoutRows(own.database, { fromUs: 0, toUs: Date.now() * 1000, device });
    expect(await sums()).toEqual([
      [['n0.test'], ['192.0.2.2']],
      [['n1.test'], ['192.0.2.2']],
      [['n0.test', 'n1.test'], ['192.0.2.2']],
    ]);
  });
});

test('daysWithin() and takesDay() use days in UTC and exclude the end of the period', () => {
  const scope = { fromUs: 5 * DAY_US + 1, toUs: 8 * DAY_US, device: null };
  expect(daysWithin([3, 4, 5, 6, 7, 8], scope)).toEqual([5, 6, 7]);
  expect([5, 6, 7, 8].filter((day) => takesDay(scope, day))).toEqual([6, 7]);
  expect(takesDay({ ...scope, device: { ids: [1], addresses: [] } }, 6)).toBe(false);
});
