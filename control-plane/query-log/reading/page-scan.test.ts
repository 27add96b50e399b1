/** Compares pages that are read with cached blocks with pages read without a cache, even while the log changes. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { QueryLogPage } from '../../../shared/api/query-log-api.ts';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { batchesOf, emptyLog } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import type { QueryStatusCode } from '../../../shared/query-log.ts';
import { BackgroundWork } from '../../storage/db/background-work.ts';
import { fromSentTarget } from '../../storage/db/database-target.ts';
import { BlockGatherer } from '../store/block-gatherer.ts';
import { storeBlock } from '../store/block-store.ts';
import { MergeUpkeep } from '../upkeep/merge-upkeep.ts';
import type { BlockTransaction } from '../search/block-transaction.ts';
import { LogMemory } from '../search/log-memory.ts';
import type { LogSource } from './log-source.ts';
import type { QueryLogRequest } from './page-scan.ts';
import { readQueryLog } from './query-log-store.ts';

const HOUR_MS = 3_600_000;
/** The hour before the last one. */
const START_MS = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 2 * HOUR_MS;
const STATUSES: readonly QueryStatusCode[] = [1, 4, 5, 12];
const BLOCKS = 6;
const ROWS = 10;

let own: TestDatabase;
/** Separate connections for reading, because upkeep runs at the same time. */
let work: BackgroundWork;
beforeAll(async () => {
  own = await startTestDatabase();
  work = new BackgroundWork(fromSentTarget(own.database.target()), new MemoryLogger());
});
/** Blocks of two nodes that overlap in time; each lacks some names, clients and outcomes. */
beforeEach(async () => {
  await emptyLog(own.database);
  for (const nodeId of [7, 8]) {
    const gatherer = new BlockGatherer();
    for (let block = 0; block < BLOCKS; block++) await store(block, gatherer, nodeId);
  }
});
afterAll(async () => {
  await work.end();
  await own.stop();
});

async function store(block: number, gatherer: BlockGatherer, nodeId: number): Promise<void> {
  const rows = Array.from({ length: ROWS }, (_, i) =>
    logRow({
      timestampMs: START_MS + (block * ROWS + i) * 1000 + nodeId,
      client: Uint8Array.of(192, 0, 2, (block + i) % 5),
      qname: wireName(`n${(block * 3 + i) % 11}.example`),
      qtype: i % 2 === 0 ? 1 : 28,
      status: STATUSES[(block + i) % (block % 3 === 0 ? 2 : 4)]!,
    }),
  );
  for (const batch of await batchesOf(rows, gatherer))
    await storeBlock(own.database, batch, { nodeId, durable: false });
}

interface Parts {
  readonly memory?: LogMemory | undefined;
  readonly turn?: BlockTransaction['turn'];
}

/** A log source with these parts of a transaction. */
function sourceWith({ memory, turn }: Parts, damaged: string[] = []): LogSource {
  return {
    read: (use) => {
      memory?.beginQuestion();
      return work.read((tx) => use({ ...tx, ...(memory && { memory }), ...(turn && { turn }) }));
    },
    onDamaged: (block) => damaged.push(block),
  };
}

const ask = (log: LogSource, request: Partial<QueryLogRequest>): Promise<QueryLogPage> =>
  readQueryLog(log, { limit: 7, offset: 0, ...request });

const inside = { fromMs: START_MS + 15_000, toMs: START_MS + 85_000 };
const REQUESTS: readonly Partial<QueryLogRequest>[] = [
  {},
  { domain: 'n1' },
  { domain: 'n10', ...inside },
  { not: { domain: 'n1' } },
  { client: '192.0.2.3' },
  { client: '192.0.2.3', status: 'BLOCKED_LIST', ...inside },
  { client: '192.0.2.3', statuses: ['BLOCKED_LIST', 'BLOCKED_REGEX'] },
  { client: '192.0.2.3', type: 'AAAA', domain: 'n' },
  { domain: 'n2', status: 'BLOCKED_LIST' },
  { domain: 'n2', not: { client: '192.0.2.1' } },
];

/** Sends each request several times: heads are cached from the second time on, names from the third. */
async function expectSame(memory: LogMemory): Promise<void> {
  const [bare, log] = [sourceWith({}), sourceWith({ memory })];
  for (const request of REQUESTS) {
    const expected = await ask(bare, request);
    for (let time = 0; time < 3; time++) expect(await ask(log, request)).toEqual(expected);
  }
}

async function merge(): Promise<number> {
  const logger = new MemoryLogger();
  const [a, b] = [7, 8].map((nodeId) => new MergeUpkeep({ database: own.database, logger, nodeId }));
  return (await a!.turn('own-and-ended')) + (await b!.turn('own-and-ended'));
}

describe('PageScan', () => {
  test('returns the same rows with and without cached blocks, even after blocks were added, merged or deleted', async () => {
    const memory = new LogMemory();
    await expectSame(memory);
    await store(3, new BlockGatherer(), 7);
    expect(await merge()).toBeGreaterThan(0);
    await expectSame(memory);
    await own.database.query('DELETE FROM query_blocks WHERE node_id = 8');
    await expectSame(memory);
  });

  test.each([
    ['no space', 0, 1000],
    ['space for a few blocks', 12_000, 1000],
    ['space for a few names', 1e6, 5],
  ])('returns the same rows with %s in its cache', async (_, bytes, keys) => {
    await expectSame(new LogMemory(bytes, keys));
  });

  test.each([
    ['nothing', undefined],
    ['something', new LogMemory()],
  ])(
    'reads a consistent state of the log while blocks are added, merged and deleted; cache: %s',
    async (_, memory) => {
      const request = { domain: 'n1', type: 'A' };
      const expected = await ask(sourceWith({}), request);
      let turns = 0;
      const turn = async (): Promise<void> => {
        turns++;
        if (turns === 2) await store(2, new BlockGatherer(), 7);
        if (turns === 4) await merge();
        if (turns === 6) await own.database.query('DELETE FROM query_blocks WHERE node_id = 7');
      };
      expect(await ask(sourceWith({ memory, turn }), request)).toEqual(expected);
      expect(turns).toBe(2 * BLOCKS);
      const left = await ask(sourceWith({}), request);
      expect(left.total).toBeLessThan(expected.total);
      expect(await ask(sourceWith({ memory }), request)).toEqual(left);
    },
  );

  test('ends if its next step is refused, and releases its connection for the next scan', async () => {
    const memory = new LogMemory();
    const expected = await ask(sourceWith({}), { domain: 'n1' });
    for (let last = 1; last <= 2 * BLOCKS; last += 3) {
      let turns = 0;
      const turn = (): Promise<void> =>
        ++turns === last ? Promise.reject(new Error('gone')) : Promise.resolve();
      await expect(ask(sourceWith({ turn, memory }), { domain: 'n1' })).rejects.toThrow('gone');
      expect(await ask(sourceWith({ memory }), { domain: 'n1' })).toEqual(expected);
    }
  });

  test('leaves out damaged blocks, and reports their number', async () => {
    const damage = (column: string, at: string): Promise<unknown> =>
      own.database.query(
        `UPDATE query_blocks SET ${column} = set_byte(${column}, ${at}, get_byte(${column}, ${at}) # 1)
         WHERE first_seq = 10 AND node_id = 7`,
      );
    for (const [column, at] of [
      ['names', '20'],
      // Damages the frame of outcomes.
      ['queries', 'lengths[4] + lengths[5] + lengths[6] + 5'],
      ['head', '20'],
    ] as const) {
      await damage(column, at);
      const memory = new LogMemory();
      for (let time = 0; time < 3; time++) {
        const damaged: string[] = [];
        const page = await ask(sourceWith({ memory }, damaged), { domain: 'n', type: 'A', limit: 1000 });
        expect(page).toMatchObject({ damaged_blocks: 1, total: (2 * BLOCKS - 1) * 5 });
        expect(page.data).toHaveLength(page.total);
        expect(new Set(damaged).size).toBe(1);
      }
      await damage(column, at);
    }
  });
});
