import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { batchesOf, emptyLog, logSourceOf } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import type { QueryLogPage } from '../../../shared/api/query-log-api.ts';
import { BlockGatherer } from '../store/block-gatherer.ts';
import { storeBlock } from '../store/block-store.ts';
import { MergeUpkeep } from '../upkeep/merge-upkeep.ts';
import type { QueryLogRequest } from './page-scan.ts';
import { readQueryLog } from './query-log-store.ts';

const NODE = 7;
/**
 * Blocks start at this hour and continue in the next one. Both are old enough for merging, which excludes the newest
 * hour.
 */
const START = Math.floor(Date.now() / 3_600_000 - 6) * 3_600_000;
let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());

/** Blocks of several runs: for each block its run, its start, and the time steps between its rows. */
const blocks = fc.array(
  fc.record({
    run: fc.nat(2),
    startMs: fc.nat(7200).map((secs) => secs * 1000),
    steps: fc.array(fc.constantFrom(0, 0, 0.001, 1, 700, -1), { minLength: 1, maxLength: 8 }),
  }),
  { minLength: 1, maxLength: 6 },
);

class Log {
  private readonly runs = Array.from({ length: 3 }, () => new BlockGatherer());

  async store(run: number, startMs: number, steps: readonly number[]): Promise<void> {
    let timestampMs = START + startMs;
    const rows = steps.map((step, i) =>
      logRow({ timestampMs: (timestampMs += step), qtype: i % 2 === 0 ? 1 : 28 }),
    );
    for (const batch of await batchesOf(rows, this.runs[run]))
      await storeBlock(own.database, batch, { nodeId: NODE, durable: false });
  }

  page(request: Partial<QueryLogRequest>): Promise<QueryLogPage> {
    return readQueryLog(logSourceOf(own.database), { limit: 3, offset: 0, ...request });
  }
}

const idsOf = ({ data }: QueryLogPage): number[] => data.map(({ id }) => id);

/** All pages in one direction, from the given page to the last one; calls `between` before each. */
async function walk(
  log: Log,
  first: QueryLogPage,
  to: 'next_cursor' | 'prev_cursor',
  {
    between = async () => undefined,
    ...request
  }: Partial<QueryLogRequest> & { between?: () => Promise<unknown> },
): Promise<QueryLogPage[]> {
  const pages: QueryLogPage[] = [];
  for (let page = first; page.data.length > 0; pages.push(page)) {
    const cursor = page[to];
    await between();
    if (cursor === null || cursor === undefined) break;
    page = await log.page({ ...request, cursor });
    if (page.data.length === 0) break;
  }
  return pages;
}

describe('readQueryLog()', () => {
  test('returns the same pages forwards and backwards, while blocks are added and merged', async () => {
    const property = fc.asyncProperty(
      blocks,
      fc.integer({ min: 2, max: 7 }),
      fc.constantFrom({}, { type: 'A' }, { fromMs: START + 1000 * 1800, toMs: START + 1000 * 5400 }),
      async (stored, limit, filter) => {
        await emptyLog(own.database);
        const log = new Log();
        for (const { run, startMs, steps } of stored) await log.store(run, startMs, steps);
        const request = { ...filter, limit };
        const first = await log.page(request);
        const all = await log.page({ ...filter, limit: 1000 });
        const forwards = [first, ...(await walk(log, first, 'next_cursor', request))];
        expect(forwards.flatMap(idsOf)).toEqual(idsOf(all));
        expect(new Set(forwards.map(({ total }) => total))).toEqual(new Set([all.data.length]));
        if (first.data.length === 0) return;
        let stepsBack = 0;
        const between = async (): Promise<void> => {
          if (++stepsBack > 4) return;
          // Stores rows that are newer than all rows read so far.
          await log.store(stepsBack % 3, 7_300_000 + stepsBack, [0, 1]);
          if (stepsBack === 2)
            await new MergeUpkeep({ database: own.database, logger: own.logger, nodeId: NODE }).turn(
              'own-and-ended',
            );
        };
        const last = forwards.at(-1)!;
        const backwards = [
          last,
          ...(await walk(log, last, 'prev_cursor', { ...request, between })),
        ].toReversed();
        const ofThen = new Set(idsOf(all));
        const known = backwards.map((page) => page.data.filter(({ id }) => ofThen.has(id)));
        expect(known.flat()).toEqual(forwards.flatMap(({ data }) => data));
        const wanted = forwards.slice(0, -1).map(idsOf).toReversed();
        // Backwards from the last page, pages have the same boundaries, except the newest page, which has more rows
        // now.
        const full = backwards.slice(0, -1).toReversed().map(idsOf);
        expect(full.slice(0, wanted.length)).toEqual(wanted);
      },
    );
    await fc.assert(property, { numRuns: 12 });
  });

  test('returns an empty page with valid cursors at both ends of the log, and finds new rows later', async () => {
    await emptyLog(own.database);
    const log = new Log();
    await log.store(0, 0, [0, 1, 1, 1, 1]);
    const first = await log.page({});
    const nothingNewer = await log.page({ cursor: first.prev_cursor! });
    expect([nothingNewer.data, nothingNewer.total]).toEqual([[], 5]);
    expect(nothingNewer.prev_cursor).toBe(first.prev_cursor);
    expect((await log.page({ cursor: nothingNewer.next_cursor! })).data).toEqual(first.data);
    await log.store(1, 5000, [0, 1]);
    const newer = await log.page({ cursor: nothingNewer.prev_cursor! });
    expect(newer.data).toHaveLength(2);
    expect((await log.page({ cursor: newer.next_cursor! })).data).toEqual(first.data);
    const second = await log.page({ cursor: first.next_cursor! });
    expect([second.data.length, second.next_cursor]).toEqual([2, null]);
    const exact = await log.page({ limit: 7 });
    const nothingOlder = await log.page({ limit: 7, cursor: exact.next_cursor! });
    expect([nothingOlder.data, nothingOlder.next_cursor]).toEqual([[], null]);
    expect((await log.page({ limit: 7, cursor: nothingOlder.prev_cursor! })).data).toEqual(exact.data);
  });

  test('returns pages of newer rows without reading all of them', async () => {
    await emptyLog(own.database);
    const log = new Log();
    for (let block = 0; block < 40; block++) await log.store(0, block * 10_000, [0, 1]);
    const oldest = await log.page({ limit: 2, offset: 78 });
    const reading = { blocks: 0 };
    const source = logSourceOf(own.database);
    const read: typeof source.read = (work) =>
      source.read((tx) =>
        work({
          query: (...args) => tx.query(...args),
          copyOut: (query) => tx.copyOut(query),
          turn: async () => {
            reading.blocks++;
          },
        }),
      );
    const page = await readQueryLog(
      { ...source, read },
      { limit: 2, offset: 0, cursor: oldest.prev_cursor! },
    );
    expect([page.data.length, reading.blocks < 5]).toEqual([2, true]);
  });
});
