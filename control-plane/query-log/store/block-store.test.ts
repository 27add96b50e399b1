import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { batchesOf, emptyLog, storedRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { until } from '../../../test/support/parts/until.ts';
import { DamagedBlock } from '../block/block-layout.ts';
import { BlockGatherer } from './block-gatherer.ts';
import {
  BLOCK_CHANNEL,
  type BlockNotice,
  numberRun,
  OverlappingBlock,
  readBlockNotice,
  storeBlock,
} from './block-store.ts';
import type { LogBatch } from './log-batch.ts';

const NOON_MS = Date.UTC(2026, 6, 5, 12);
const HOW = { nodeId: 7, durable: false };

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterEach(() => emptyLog(own.database));
afterAll(() => own.stop());

/** Rows with the given response times. */
async function batchOf(times: readonly number[], gatherer: BlockGatherer): Promise<LogBatch> {
  const rows = times.map((responseTimeUs) => logRow({ timestampMs: NOON_MS, responseTimeUs }));
  return (await batchesOf(rows, gatherer))[0]!;
}

async function storedTimes(): Promise<number[]> {
  return (await storedRows(own.database)).map((row) => row.response_time_us).sort((a, b) => a - b);
}

async function countedQueries(): Promise<unknown> {
  const { rows } = await own.database.query(
    'SELECT grain, sum(queries)::integer AS queries FROM query_counts GROUP BY grain ORDER BY grain',
  );
  return rows;
}

describe('storeBlock()', () => {
  test('stores a block with its counts once if it is sent twice, or by two senders at the same time', async () => {
    const gatherer = new BlockGatherer();
    const batches = [
      await batchOf([1, 2], gatherer),
      await batchOf([3], gatherer),
      await batchOf([4], gatherer),
    ];
    const disorder = [2, 0, 0, 1, 2, 1].map((index) => storeBlock(own.database, batches[index]!, HOW));
    await Promise.all(disorder);
    await storeBlock(own.database, batches[0]!, { nodeId: 7, durable: true });
    expect(await storedTimes()).toEqual([1, 2, 3, 4]);
    expect(await countedQueries()).toEqual(['d', 'm', 'q'].map((grain) => ({ grain, queries: 4 })));
  });

  test('notifies all nodes of each block once, with the ID of its run', async () => {
    const reported: (BlockNotice | null)[] = [];
    const stop = own.database.listen(BLOCK_CHANNEL, (payload) => reported.push(readBlockNotice(payload)));
    await until('the channel to be heard', () => own.database.isListening(BLOCK_CHANNEL));
    const gatherer = new BlockGatherer();
    const run = { key: gatherer.runKey, id: null as number | null };
    await numberRun(own.database, run, 7);
    await numberRun(own.database, run, 7);
    const batches = [await batchOf([1, 2], gatherer), await batchOf([3], gatherer)];
    const stored: unknown[] = [];
    for (const batch of [batches[0], batches[0], batches[1]])
      stored.push(await storeBlock(own.database, batch!, HOW));
    const timeline = '00000001'; // Timeline of a server that never was a standby.
    expect(stored).toEqual(
      [true, false, true].map((isNew) => ({ runId: run.id, nodeId: 7, isNew, timeline })),
    );
    await until(
      'the notice of the last block',
      () => reported,
      (notices) => notices.some((notice) => notice?.firstSeq === 2),
    );
    const notice = { runKey: run.key, runId: run.id, hourUs: NOON_MS * 1000 };
    expect(reported).toEqual([
      { ...notice, firstSeq: 0, rowCount: 2 },
      { ...notice, firstSeq: 2, rowCount: 1 },
    ]);
    stop();
  });

  test.each(['', '[]', '{}', 'null', '["x",1,2,3]', '["x",1,2,3,"4"]', '["x",1,2,3,4,5]'])(
    'readBlockNotice() refuses %j',
    (payload) => expect(readBlockNotice(payload)).toBeNull(),
  );

  test('stores which rows of a run are in the database, so that lost rows appear as a gap', async () => {
    const gatherer = new BlockGatherer();
    const first = await batchOf([0, 1], gatherer);
    gatherer.skip(10);
    const second = await batchOf([2], gatherer);
    for (const batch of [second, first]) await storeBlock(own.database, batch, HOW);
    const { rows } = await own.database.query('SELECT node_id, stored::text, last_seq FROM query_runs');
    expect(rows).toEqual([{ node_id: 7, stored: '{[0,2),[12,13)}', last_seq: 12 }]);
  });

  test('stores the rows of a run for its node, even if another node sends them from a copy of its spool', async () => {
    const gatherer = new BlockGatherer();
    await storeBlock(own.database, await batchOf([1], gatherer), HOW);
    await storeBlock(own.database, await batchOf([2], gatherer), { nodeId: 8, durable: true });
    const nodes = 'SELECT DISTINCT node_id AS id FROM';
    for (const table of ['query_runs', 'query_blocks', 'query_counts'])
      expect([table, (await own.database.query(`${nodes} ${table}`)).rows]).toEqual([table, [{ id: 7 }]]);
  });

  test('adds to existing counts', async () => {
    const rows = [
      logRow({ timestampMs: NOON_MS, qtype: 1, upstream: 'udp://192.0.2.1:53', cached: false, status: 0 }),
      logRow({ timestampMs: NOON_MS + 59_999, qtype: 28 }),
      logRow({ timestampMs: NOON_MS + 60_000, qtype: 28, status: 4, cached: false, blockSource: 'ads' }),
    ];
    for (const row of rows) {
      for (const batch of await batchesOf([row])) await storeBlock(own.database, batch, HOW);
    }
    const { rows: counted } = await own.database.query(
      `SELECT extract(minute FROM start AT TIME ZONE 'UTC')::integer AS minute, queries, blocked, cached, forwarded,
         counts -> 'type:28' AS aaaa, counts -> 'source:ads' AS ads
       FROM query_counts WHERE grain = 'm' ORDER BY start`,
    );
    expect(counted).toEqual([
      { minute: 0, queries: 2, blocked: 0, cached: 1, forwarded: 1, aaaa: 1, ads: null },
      { minute: 1, queries: 1, blocked: 1, cached: 0, forwarded: 0, aaaa: 1, ads: 1 },
    ]);
  });

  test('refuses an invalid block, or one with rows that are already stored, and keeps the connection usable', async () => {
    const nonsense = { id: 'x', rowCount: 1, bytes: Buffer.from('nonsense') };
    await expect(storeBlock(own.database, nonsense, HOW)).rejects.toBeInstanceOf(DamagedBlock);
    const gatherer = new BlockGatherer();
    await storeBlock(own.database, await batchOf([1, 2], gatherer), HOW);
    const overlapping = await batchOf([3, 4], gatherer);
    const line = overlapping.bytes.toString('latin1').replace('"firstSeq":2', '"firstSeq":1');
    await expect(
      storeBlock(own.database, { ...overlapping, bytes: Buffer.from(line, 'latin1') }, HOW),
    ).rejects.toBeInstanceOf(OverlappingBlock);
    expect(own.database.status().state).toBe('up');
    expect(await storedTimes()).toEqual([1, 2]);
  });
});
