/** The blocks of a period, listed by what changed, against a scan. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { emptyLog, storeRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { BlockListing, type FoundBlocks } from './block-listing.ts';
import { scanBlocks } from './block-scan.ts';
import type { StoredBlock } from './stored-block.ts';

const NOON_US = Date.UTC(2026, 6, 5, 12) * 1000;
const DAY_US = 86_400_000_000;

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(() => emptyLog(own.database));
afterAll(() => own.stop());

/** Stores a block with a row at each of these moments. */
async function store(...timesUs: number[]): Promise<void> {
  await storeRows(
    own.database,
    timesUs.map((us) => logRow({ timestampMs: us / 1000 })),
  );
}

async function scanned(fromUs: number, toUs: number): Promise<StoredBlock[]> {
  const blocks: StoredBlock[] = [];
  const pieces = new Set(['head', 'names'] as const);
  for await (const block of scanBlocks(own.database, { fromUs, toUs, pieces })) blocks.push(block);
  return blocks;
}

function keysOf({ fresh }: FoundBlocks): string[] {
  return [...fresh.keys()];
}

describe('BlockListing', () => {
  test('has each block as a scan has it, to the microsecond', async () => {
    await store(NOON_US + 5, NOON_US + 1001);
    await store(NOON_US - DAY_US, NOON_US - DAY_US + 7);
    for (const [from, to] of [
      [5, 6],
      [1001, 2000],
      [1002, 2000],
      [0, 5],
      [-DAY_US, 2000],
      [-DAY_US + 8, 2000],
    ] as const) {
      const [fromUs, toUs] = [NOON_US + from, NOON_US + to];
      const found = await new BlockListing().read(own.database, [{ fromUs, toUs, unlisted: null }]);
      const blocks = found!.ranges[0]!.map(({ block }) => block).sort((a, b) => b.lastUs - a.lastUs);
      const expected = await scanned(fromUs, toUs);
      const shown = ({ runId, firstSeq, rowCount, nodeId, hourUs, firstUs, lastUs }: StoredBlock): unknown =>
        [runId, firstSeq, rowCount, nodeId, hourUs, firstUs, lastUs]; // prettier-ignore
      expect(blocks.map(shown)).toEqual(expected.map(shown));
      expect(blocks.map(({ lengths }) => lengths)).toEqual(expected.map(({ lengths }) => lengths));
      expect(blocks.map(({ checksums }) => checksums)).toEqual(expected.map(({ checksums }) => checksums));
    }
  });

  test('has the content of small blocks that came since the last time, once, and of no others', async () => {
    const [fromUs, toUs] = [NOON_US, NOON_US + DAY_US];
    const listing = new BlockListing();
    const read = async (): Promise<FoundBlocks> =>
      (await listing.read(own.database, [{ fromUs, toUs, unlisted: null }]))!;
    await store(NOON_US + 1);
    expect(keysOf(await read())).toEqual([]);
    await store(NOON_US + 2);
    const found = await read();
    const [newest] = await scanned(fromUs, toUs);
    expect([...found.fresh.values()]).toEqual([{ head: newest!.head, names: newest!.names }]);
    expect(found.ranges[0]).toHaveLength(2);
    expect(keysOf(await read())).toEqual([]);
  });
});
