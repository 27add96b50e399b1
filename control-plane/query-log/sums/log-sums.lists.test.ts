/** Compares counts by name and client, from lists and blocks together, with a count of all rows. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import {
  countPlainly,
  type DayRow,
  FIRST_DAY,
  FIRST_DAY_MS,
  groupOf,
  LogOfDays,
  type PlainCounts,
} from '../../../test/support/parts/rows-of-days.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import type { QueryStatusCode } from '../../../shared/query-log.ts';
import { DAY_MS } from '../store/block-gatherer.ts';
import { dropPartitions } from '../store/partition-store.ts';
import { LogMemory } from '../search/log-memory.ts';
import { sumClients, sumNames, type SumRequest } from './log-sums.ts';

const HOUR_MS = 3_600_000;

let own: TestDatabase;
let log: LogOfDays;
beforeAll(async () => {
  own = await startTestDatabase();
  log = new LogOfDays(own.database);
});
beforeEach(() => log.empty());
afterAll(() => own.stop());

/** Requests use different caches in turn: none, an unlimited one and small ones. */
const memories = [undefined, new LogMemory(), new LogMemory(5000), new LogMemory(1e6, 4)];
let asked = 0;

async function read(change: Partial<SumRequest>): Promise<PlainCounts> {
  const request: SumRequest = {
    ...{ fromUs: 0, toUs: Date.now() * 1000, filter: {} },
    onDamaged: (what, reason) => {
      throw new Error(`${what}: ${reason}`);
    },
    ...change,
  };
  const memory = memories[asked++ % memories.length];
  memory?.beginQuestion();
  return own.database.background().read(async (bare) => {
    const tx = memory === undefined ? bare : { ...bare, memory };
    const names = await sumNames(tx, request);
    const clients = await sumClients(tx, request);
    return {
      names: Object.fromEntries(names),
      clients: Object.fromEntries(clients),
      isEstimate: names.isEstimate || clients.isEstimate,
    };
  });
}

/** Many blocks are in the same hours, so that some hours get a list. */
const hour = fc.oneof(fc.constantFrom(5, 26), fc.nat(71));
const node = fc.constantFrom(7, 8);
const storing = fc.record({
  what: fc.constant('store' as const),
  node,
  hour,
  blocks: fc.integer({ min: 1, max: 5 }),
  rows: fc.array(
    fc.record({
      sinceMs: fc.nat(HOUR_MS - 1),
      name: fc.nat(6),
      client: fc.nat(5),
      status: fc.constantFrom<QueryStatusCode>(1, 4, 12),
    }),
    { minLength: 1, maxLength: 6 },
  ),
});
const keeping = fc.record({
  what: fc.constantFrom('fold' as const, 'fold both' as const, 'merge' as const, 'fold day' as const),
  node,
  day: fc.nat(2),
});
const spanned = fc.record({
  fromMs: fc.oneof(
    fc.integer({ min: -40 * DAY_MS, max: 4 * DAY_MS }),
    fc.integer({ min: -40, max: 90 }).map((h) => h * HOUR_MS),
  ),
  lengthMs: fc.oneof(
    fc.nat(50 * DAY_MS),
    fc.nat(3 * HOUR_MS),
    fc.nat(80).map((h) => h * HOUR_MS),
  ),
  group: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  ofNode: fc.option(node, { nil: undefined }),
});

interface Spanned {
  readonly fromMs: number;
  readonly lengthMs: number;
  readonly group: number | undefined;
  readonly ofNode: number | undefined;
}

describe('sums from top lists', () => {
  test('equal the sums of all rows, for generated changes of the log, and for every period, node and group', async () => {
    const steps = fc.array(fc.oneof({ weight: 2, arbitrary: storing }, keeping), {
      minLength: 3,
      maxLength: 14,
    });
    const spans = fc.array(spanned, { minLength: 6, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(steps, spans, async (list, questions) => {
        await log.empty();
        const rows: DayRow[] = [];
        const ask = async ({ fromMs, lengthMs, group, ofNode }: Spanned): Promise<void> => {
          const from = FIRST_DAY_MS + fromMs;
          const to = Math.min(from + lengthMs, Date.now());
          const wanted = rows.filter(
            (row) =>
              row.timeMs >= from &&
              row.timeMs < to &&
              (group === undefined || groupOf(row) === group) &&
              (ofNode === undefined || row.node === ofNode),
          );
          const request = {
            fromUs: from * 1000,
            toUs: to * 1000,
            nodeId: ofNode,
            filter: { group_id: group },
          };
          expect(await read(request)).toEqual(countPlainly(wanted));
        };
        for (const step of list) {
          // This request is sent after every step, so that its blocks and lists change while they are cached.
          await ask(questions[0]!);
          if (step.what !== 'store') {
            await log.keep(step);
            continue;
          }
          for (let block = 0; block < step.blocks; block++) {
            const added = step.rows.map(({ sinceMs, ...row }) => ({
              ...row,
              node: step.node,
              timeMs: FIRST_DAY_MS + step.hour * HOUR_MS + ((sinceMs + block * 1000) % HOUR_MS),
            }));
            await log.store(step.node, added);
            rows.push(...added);
          }
        }
        for (const question of questions) await ask(question);
      }),
      { numRuns: 8 },
    );
  });

  test('include a day whose blocks were deleted if its noon lies in the period', async () => {
    const rows = [1, 30, 54].map((at): DayRow => ({
      ...{ node: 7, name: at, client: 1, status: 1 },
      timeMs: FIRST_DAY_MS + at * HOUR_MS,
    }));
    await log.store(7, rows);
    for (const day of [FIRST_DAY, FIRST_DAY + 1]) expect(await log.folding(7).foldDay(day)).toBe(true);
    await dropPartitions(own.database, [FIRST_DAY, FIRST_DAY + 1]);
    expect(await read({})).toEqual(countPlainly(rows));
    const from = (hours: number): Partial<SumRequest> => ({
      fromUs: (FIRST_DAY_MS + hours * HOUR_MS) * 1000,
    });
    expect(await read(from(12))).toEqual({ ...countPlainly(rows), isEstimate: true });
    expect(await read(from(13))).toEqual({ ...countPlainly(rows.slice(1)), isEstimate: true });
    expect(await read(from(24))).toEqual(countPlainly(rows.slice(1)));
  });

  test('leave out a damaged top list, report which one, and are marked as estimates', async () => {
    const rows = [1, 30].map((at): DayRow => ({
      ...{ node: 7, name: at, client: 1, status: 1 },
      timeMs: FIRST_DAY_MS + at * HOUR_MS,
    }));
    await log.store(7, rows);
    await log.folding(7).turn('own-and-ended');
    await own.database.query(
      `UPDATE query_names SET names = set_byte(names, 20, get_byte(names, 20) # 1) WHERE start = $1`,
      [new Date(FIRST_DAY_MS)],
    );
    const damaged: string[] = [];
    const onDamaged = (what: string, reason: string): void => void damaged.push(`${what} ${reason}`);
    const request = {
      fromUs: FIRST_DAY_MS * 1000,
      toUs: (FIRST_DAY_MS + 2 * DAY_MS) * 1000,
      filter: {},
      onDamaged,
    };
    const sums = await sumNames(own.database, request);
    expect([Object.keys(Object.fromEntries(sums)), sums.isEstimate]).toEqual([['n30.example'], true]);
    expect(damaged).toEqual([
      `d ${new Date(FIRST_DAY_MS).toISOString()} 7 could not read a name index: wrong checksum`,
    ]);
  });
});
