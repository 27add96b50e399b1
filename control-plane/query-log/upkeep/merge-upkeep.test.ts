import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { batchesOf, emptyLog, storedRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { BackgroundWork } from '../../storage/db/background-work.ts';
import { fromSentTarget } from '../../storage/db/database-target.ts';
import { forEachRow } from '../block/block-rows.ts';
import { BlockReader } from '../block/block-reader.ts';
import { mergeBlocks } from '../block/merge-blocks.ts';
import { scanBlocks } from '../search/block-scan.ts';
import { BlockGatherer, DAY_MS } from '../store/block-gatherer.ts';
import { storeBlock } from '../store/block-store.ts';
import { ChangedConcurrently } from './changed-concurrently.ts';
import { MergeUpkeep } from './merge-upkeep.ts';
import { listNeighbours, readParts, replaceParts } from './small-blocks.ts';

const HOUR_MS = 3_600_000;
/** The hour before the last one. */
const OLD_HOUR_MS = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 2 * HOUR_MS;

let own: TestDatabase;
let gatherer: BlockGatherer;
beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(async () => {
  gatherer = new BlockGatherer();
  await emptyLog(own.database);
});
afterAll(() => own.stop());

const upkeep = (nodeId = 7, logger = new MemoryLogger()): MergeUpkeep =>
  new MergeUpkeep({ database: own.database, logger, nodeId });

/** Stores blocks, each with three different queries; the first block starts at this time. */
async function storeBlocks(count: number, startMs = OLD_HOUR_MS, nodeId = 7): Promise<void> {
  for (let block = 0; block < count; block++) {
    const rows = [0, 1, 2].map((row) =>
      logRow({
        timestampMs: startMs + block * 1000 + row,
        responseTimeUs: block * 10 + row,
        client: Uint8Array.of(192, 0, 2, row),
        status: row === 2 ? 4 : 1,
        ...(row === 2 ? { blockSource: 'ads', blockRule: `||ads${block}.test^` } : {}),
      }),
    );
    for (const batch of await batchesOf(rows, gatherer))
      await storeBlock(own.database, batch, { nodeId, durable: false });
  }
}

async function blocks(): Promise<readonly (readonly [number, number])[]> {
  const { rows } = await own.database.query<{ first_seq: number; row_count: number }>(
    'SELECT first_seq, row_count FROM query_blocks ORDER BY run_id, first_seq',
  );
  return rows.map((row) => [row.first_seq, row.row_count]);
}

async function counted(): Promise<unknown> {
  const sums = await own.database.query('SELECT * FROM query_counts ORDER BY grain, start, node_id');
  const runs = await own.database.query('SELECT *, stored::text FROM query_runs ORDER BY id');
  return [sums.rows, runs.rows];
}

describe('MergeUpkeep', () => {
  test('turn() merges adjacent blocks of a past hour, and keeps queries and counts', async () => {
    await storeBlocks(20);
    await storeBlocks(2, OLD_HOUR_MS - HOUR_MS);
    const before = await storedRows(own.database);
    const countsBefore = await counted();
    expect(await upkeep().turn('own-and-ended')).toBe(2);
    expect(await blocks()).toEqual([
      [0, 60],
      [60, 6],
    ]);
    expect(await storedRows(own.database)).toEqual(before);
    expect(await counted()).toEqual(countsBefore);
    expect(await upkeep().turn('own-and-ended')).toBe(0);
  });

  test('turn() merges no blocks across a gap of lost queries', async () => {
    await storeBlocks(2);
    gatherer.skip(5);
    await storeBlocks(2);
    expect(await upkeep().turn('own-and-ended')).toBe(2);
    expect(await blocks()).toEqual([
      [0, 6],
      [11, 6],
    ]);
  });

  test('turn() merges sixteen blocks of similar size during their hour, and no fewer', async () => {
    const change = (text: string): Promise<unknown> => own.database.query(`UPDATE query_blocks SET ${text}`);
    const chains = async (): Promise<number[]> => {
      const day = Math.floor(OLD_HOUR_MS / DAY_MS);
      const found = await own.database
        .background()
        .read((tx) => listNeighbours(tx, { day, nodeId: 7, whose: 'own', spared: [], limit: 9 }));
      return found.map(({ firstSeqs }) => firstSeqs.length);
    };
    await storeBlocks(16);
    // The hour of the blocks is the current one, at any minute.
    await change(`hour = date_trunc('hour', now())`);
    expect(await chains()).toEqual([16]);
    await change('last_time = now() WHERE first_seq = 45');
    expect(await chains()).toEqual([]);
    await change('last_time = first_time, row_count = 64 WHERE first_seq = 45');
    expect(await chains()).toEqual([]);
    await change(`hour = date_trunc('hour', now()) - interval '2 hours'`);
    expect(await chains()).toEqual([16]);
  });

  test('turn() does not merge blocks of another node until its run has ended', async () => {
    await storeBlocks(2, OLD_HOUR_MS, 8);
    expect(await upkeep(7).turn('own-and-ended')).toBe(0);
    await own.database.query(`UPDATE query_runs SET last_at = now() - interval '2 hours'`);
    expect(await upkeep(7).turn('own')).toBe(0);
    expect(await upkeep(7).turn('own-and-ended')).toBe(1);
    const { rows } = await own.database.query('SELECT node_id FROM query_blocks');
    expect(rows).toEqual([{ node_id: 8 }]);
  });

  test('turn() loses and duplicates no queries if it runs several times concurrently', async () => {
    await storeBlocks(40);
    const before = await storedRows(own.database);
    await Promise.all([
      upkeep().turn('own-and-ended'),
      upkeep().turn('own-and-ended'),
      upkeep().turn('own-and-ended'),
    ]);
    expect(await blocks()).toEqual([[0, 120]]);
    expect(await storedRows(own.database)).toEqual(before);
  });

  test('turn() skips a damaged block, logs it once, and merges the blocks before and after it', async () => {
    await storeBlocks(5);
    await own.database.query(
      `UPDATE query_blocks SET queries = queries || '\\x00', names = '\\x00' WHERE first_seq = 6`,
    );
    const logger = new MemoryLogger();
    const merging = upkeep(7, logger);
    expect(await merging.turn('own-and-ended')).toBe(0);
    expect(await merging.turn('own-and-ended')).toBe(2);
    expect(await merging.turn('own-and-ended')).toBe(0);
    expect(await blocks()).toEqual([
      [0, 6],
      [6, 3],
      [9, 6],
    ]);
    expect(logger.lines.map(({ level, fields }) => [level, fields['block']])).toEqual([
      ['error', expect.stringMatching(/^\d+\.6$/)],
    ]);
  });

  test('turn() merges only blocks that are in the same top lists, and these contain the merged block', async () => {
    await storeBlocks(7);
    await own.database.query(`UPDATE query_blocks SET listed = 'd' WHERE first_seq < 6`);
    await own.database.query(`UPDATE query_blocks SET listed = 'h' WHERE first_seq IN (6, 9)`);
    expect(await upkeep().turn('own-and-ended')).toBe(3);
    const { rows } = await own.database.query<{ first_seq: number; listed: string | null }>(
      'SELECT first_seq, listed FROM query_blocks ORDER BY first_seq',
    );
    expect(rows.map(({ first_seq, listed }) => [first_seq, listed])).toEqual([
      [0, 'd'],
      [6, 'h'],
      [12, null],
    ]);
  });

  test('replaceParts() does not replace blocks that are now in different top lists', async () => {
    await storeBlocks(2);
    const change = own.database.background();
    const day = Math.floor(OLD_HOUR_MS / DAY_MS);
    const [parts] = await change.read((tx) =>
      listNeighbours(tx, { day, nodeId: 7, whose: 'own', spared: [], limit: 1 }),
    );
    const merged = await mergeBlocks(await readParts(own.database, parts!));
    await own.database.query(`UPDATE query_blocks SET listed = 'd' WHERE first_seq = 3`);
    await expect(change.change((client) => replaceParts(client, parts!, merged))).rejects.toThrow(
      ChangedConcurrently,
    );
    expect(await blocks()).toEqual([
      [0, 3],
      [3, 3],
    ]);
  });

  test('turn() does not disturb a reader', async () => {
    await storeBlocks(30);
    const numbers: number[] = [];
    const reading = new BackgroundWork(fromSentTarget(own.database.target()), own.logger);
    await reading.read(async (tx) => {
      const span = { fromUs: OLD_HOUR_MS * 1000, toUs: (OLD_HOUR_MS + HOUR_MS) * 1000 };
      const pieces = new Set(['names', 'queries', 'answers'] as const);
      for await (const block of scanBlocks(tx, { ...span, reader: 'log', pieces })) {
        if (numbers.length === 0) expect(await upkeep().turn('own-and-ended')).toBe(1);
        forEachRow(new BlockReader(block), (row) => numbers.push(row.responseTimeUs));
      }
    });
    await reading.end();
    expect(await blocks()).toEqual([[0, 90]]);
    expect(new Set(numbers).size).toBe(90);
  });
});
