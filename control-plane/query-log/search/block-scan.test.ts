/** Selection of the blocks of a span of time. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { emptyLog, storeRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { type BlockRequest, countWholeBlocks, scanBlocks } from './block-scan.ts';
import { fetchBlock, type StoredBlock } from './stored-block.ts';

const NOON_MS = Date.UTC(2026, 6, 5, 12);
const EVER = { reader: 'log', fromUs: 0, toUs: Date.UTC(2100, 0) * 1000, pieces: new Set([]) } as const;

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterEach(() => emptyLog(own.database));
afterAll(() => own.stop());

/** Stores a block of one run with a row at each of these seconds after noon. */
async function store(seconds: readonly number[], nodeId = 1): Promise<void> {
  const rows = seconds.map((second) => logRow({ timestampMs: NOON_MS + second * 1000 }));
  await storeRows(own.database, rows, nodeId);
}

async function scan(request: Partial<BlockRequest>): Promise<StoredBlock[]> {
  const found: StoredBlock[] = [];
  for await (const block of scanBlocks(own.database, { ...EVER, ...request })) found.push(block);
  return found;
}

const lastSeconds = (blocks: readonly StoredBlock[]): number[] =>
  blocks.map(({ lastUs }) => lastUs / 1e6 - NOON_MS / 1000);
const at = (second: number): number => (NOON_MS + second * 1000) * 1000;

describe('scanBlocks()', () => {
  test('yields every block once, newest first, in many fetches and over many days', async () => {
    for (let i = 0; i < 80; i++) await store([(i % 40) * 7200, (i % 40) * 7200 + 10]);
    const blocks = await scan({});
    expect(lastSeconds(blocks)).toEqual(
      Array.from({ length: 80 }, (_, i) => (39 - Math.floor(i / 2)) * 7200 + 10),
    );
    expect(new Set(blocks.map(({ runId, firstSeq }) => `${runId}.${firstSeq}`)).size).toBe(80);
  });

  test('yields only blocks of the period and, if requested, only blocks that extend beyond the period', async () => {
    await store([0, 9]);
    await store([5, 15]);
    await store([10, 19]);
    await store([20, 29]);
    expect(lastSeconds(await scan({ fromUs: at(10), toUs: at(20) }))).toEqual([19, 15]);
    expect(lastSeconds(await scan({ fromUs: at(10), toUs: at(20), isPartialOnly: true }))).toEqual([15]);
    expect(await countWholeBlocks(own.database, { ...EVER, fromUs: at(10), toUs: at(20) })).toEqual({
      rows: 2,
      queries: 2,
    });
    expect(await countWholeBlocks(own.database, EVER)).toEqual({ rows: 8, queries: 8 });
  });

  test('yields only the blocks of a node, or all blocks except those of a node', async () => {
    await store([1], 7);
    await store([2], 8);
    expect(lastSeconds(await scan({ nodeId: 7 }))).toEqual([1]);
    expect(lastSeconds(await scan({ notNodeId: 7 }))).toEqual([2]);
  });

  test('fetches the requested parts of a block, and fetchBlock() the remaining ones', async () => {
    await store([1]);
    const [bare] = await scan({});
    const sizes = ({ head, names, queries, answers }: StoredBlock): unknown[] =>
      [head, names, queries].map((piece) => piece.length > 0).concat(answers !== null);
    expect(sizes(bare!)).toEqual([true, false, false, false]);
    const [named] = await scan({ pieces: new Set(['names']) });
    expect(sizes(named!)).toEqual([true, true, false, false]);
    expect(sizes((await fetchBlock(own.database, bare!, new Set(['names', 'queries'])))!)).toEqual([
      true,
      true,
      true,
      false,
    ]);
    await emptyLog(own.database);
    expect(await fetchBlock(own.database, bare!, new Set(['names']))).toBeNull();
  });
});
