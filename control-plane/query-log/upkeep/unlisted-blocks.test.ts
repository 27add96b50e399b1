import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { emptyLog, storeRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import type { LentClient } from '../../storage/db/database.ts';
import { BlockReader } from '../block/block-reader.ts';
import { DAY_MS } from '../store/block-gatherer.ts';
import { fetchUnlisted, type FoldUnit, listDue, markListed, nodesOfUnlisted } from './unlisted-blocks.ts';

const HOUR_MS = 3_600_000;
const DAY = Math.floor(Date.now() / DAY_MS) - 3;
const UNIT: FoldUnit = { day: DAY, nodeId: 7, hourMs: null };

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(() => emptyLog(own.database));
afterAll(() => own.stop());

/** Stores blocks in an hour of the day, each with one query per client; `groups` are the groups of the clients. */
async function store(blocks: number, hour: number, groups = [1, 1], nodeId = 7): Promise<void> {
  const timestampMs = DAY * DAY_MS + hour * HOUR_MS;
  for (let block = 0; block < blocks; block++) {
    const rows = groups.map((groupId, i) =>
      logRow({ timestampMs: timestampMs + block, groupId, client: Uint8Array.of(192, 0, 2, i) }),
    );
    await storeRows(own.database, rows, nodeId);
  }
}

const fetchAll = (unit = UNIT): ReturnType<typeof fetchUnlisted> =>
  fetchUnlisted(own.database, unit, { after: undefined, limit: 99 });
const due = async (): Promise<unknown[]> =>
  (await listDue(own.database, { nodeId: 7, whose: 'own-and-ended', spared: [] })).map(
    ({ day, hourMs, nodeId }) => [
      day - DAY,
      hourMs === null ? null : (hourMs - DAY * DAY_MS) / HOUR_MS,
      nodeId,
    ],
  );

describe('listDue()', () => {
  test('returns hours with four blocks or a top list before the rest of their day', async () => {
    await store(4, 5);
    await store(3, 6);
    await store(1, 26);
    expect(await due()).toEqual([
      [0, 5, 7],
      [0, null, 7],
      [1, null, 7],
    ]);
    await own.database.query(
      `INSERT INTO query_names SELECT 'h', $1, 7, 0, 0, 0, 0, 0, false, 0, 0, '', ''`,
      [new Date(DAY * DAY_MS + 26 * HOUR_MS)],
    );
    expect(await due()).toEqual([
      [0, 5, 7],
      [0, null, 7],
      [1, 2 + 24, 7],
    ]);
  });

  test('returns no blocks that the caller excludes, and no blocks of another node with an open run', async () => {
    await store(1, 5);
    await store(1, 6, [1], 8);
    const [block] = await fetchAll();
    expect(await listDue(own.database, { nodeId: 7, whose: 'own-and-ended', spared: [block!] })).toEqual([]);
    expect(await nodesOfUnlisted(own.database, DAY, [block!])).toEqual([8]);
    expect(await nodesOfUnlisted(own.database, DAY, [])).toEqual([7, 8]);
  });
});

describe('fetchUnlisted()', () => {
  test('returns a few blocks at a time, and includes queries only in blocks of several groups', async () => {
    await store(2, 5, [1, 2]);
    await store(1, 6, [3, 3]);
    const first = await fetchUnlisted(own.database, UNIT, { after: undefined, limit: 2 });
    const rest = await fetchUnlisted(own.database, UNIT, { after: first[1], limit: 2 });
    expect([first.length, rest.length]).toEqual([2, 1]);
    expect(first.map((block) => [...new BlockReader(block).clientOf()])).toEqual([
      [0, 1],
      [0, 1],
    ]);
    expect(rest[0]!.queries).toHaveLength(0);
    expect(await fetchAll({ ...UNIT, hourMs: DAY * DAY_MS + 6 * HOUR_MS })).toHaveLength(1);
  });
});

describe('markListed()', () => {
  const mark = (unit: FoldUnit, blocks: Awaited<ReturnType<typeof fetchAll>>): Promise<boolean> =>
    own.database.withClient((client: LentClient) => markListed(client, unit, blocks));

  test('marks blocks once, and returns false if a block has changed', async () => {
    await store(2, 5);
    const blocks = await fetchAll();
    expect(await mark({ ...UNIT, hourMs: DAY * DAY_MS }, [{ ...blocks[0]!, rowCount: 3 }])).toBe(false);
    expect(await mark(UNIT, blocks)).toBe(false);
    expect(await fetchAll()).toEqual([]);
    await own.database.query('UPDATE query_blocks SET listed = NULL');
    expect(await mark(UNIT, blocks)).toBe(true);
    const { rows } = await own.database.query('SELECT DISTINCT listed FROM query_blocks');
    expect(rows).toEqual([{ listed: 'd' }]);
  });
});
