import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { emptyLog } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import type { ListRange } from './list-parts.ts';
import {
  fetchLists,
  findLists,
  labelOf,
  type ListKey,
  type ListRequest,
  lockLists,
  readDaysWithoutBlocks,
  readLists,
  writeLists,
} from './name-list-store.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 6, 1);
const KEY: ListKey = { grain: 'd', startMs: START_MS, nodeId: 7 };

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(() => emptyLog(own.database));
afterAll(() => own.stop());

async function write(key: ListKey, text: string): Promise<void> {
  const list = (kind: string): { bytes: Buffer; checksum: number } => ({
    bytes: Buffer.from(kind + text),
    checksum: -1,
  });
  const figures = { names: { entries: 2, unseen: 3 }, clients: { entries: 4, unseen: 5 } };
  const lists = { queries: 9, names: list('n'), clients: list('c') };
  await own.database.withClient((client) => writeLists(client, key, lists, figures));
}

async function found(request: Partial<ListRequest> & { ranges: readonly ListRange[] }): Promise<string[]> {
  const texts: string[] = [];
  const kind = request.kind ?? 'names';
  const places = await findLists(own.database, { kind, ...request });
  for await (const list of fetchLists(own.database, kind, places))
    texts.push(`${labelOf(list)} ${list.bytes.toString()}`);
  return texts;
}

describe('writeLists()', () => {
  test('replaces existing top lists', async () => {
    expect(await readLists(own.database, KEY)).toBeNull();
    await write(KEY, '1');
    await write(KEY, '2');
    expect(await readLists(own.database, KEY)).toEqual({
      queries: 9,
      names: { bytes: Buffer.from('n2'), checksum: -1 },
      clients: { bytes: Buffer.from('c2'), checksum: -1 },
    });
    expect(await readLists(own.database, { ...KEY, nodeId: 8 })).toBeNull();
  });
});

describe('findLists() and fetchLists()', () => {
  test('return the top lists of the given intervals and kind, of all nodes or of one node', async () => {
    const range = { grain: 'd' as const, fromMs: START_MS, toMs: START_MS + 2 * DAY_MS };
    for (const nodeId of [7, 8])
      for (const day of [0, 1, 2])
        await write({ ...KEY, nodeId, startMs: START_MS + day * DAY_MS }, `${day}`);
    await write({ ...KEY, grain: 'M' }, 'M');
    expect(await found({ ranges: [range], nodeId: 8 })).toEqual([
      'd 2026-07-01T00:00:00.000Z 8 n0',
      'd 2026-07-02T00:00:00.000Z 8 n1',
    ]);
    expect(await found({ ranges: [range, { ...range, grain: 'M' }], kind: 'clients' })).toHaveLength(5);
    expect(await found({ ranges: [] })).toEqual([]);
    expect((await findLists(own.database, { kind: 'names', ranges: [range] }))[0]).toMatchObject({
      queries: 9,
      checksum: -1,
    });
  });

  test('return each of many top lists once', async () => {
    for (let hour = 0; hour < 40; hour++)
      await write({ ...KEY, grain: 'h', startMs: START_MS + hour * HOUR_MS }, `${hour}`);
    const texts = await found({ ranges: [{ grain: 'h', fromMs: START_MS, toMs: START_MS + 39 * HOUR_MS }] });
    expect(texts.map((text) => Number(text.split(' n')[1]))).toEqual(
      Array.from({ length: 39 }, (_, hour) => hour),
    );
  });
});

describe('readDaysWithoutBlocks()', () => {
  test('returns the days without blocks that have a top list', async () => {
    for (const day of [0, 1, 2]) await write({ ...KEY, startMs: START_MS + day * DAY_MS }, '');
    await own.database.query('UPDATE query_names SET is_alone = true WHERE start < $1', [
      new Date(START_MS + 2 * DAY_MS),
    ]);
    const days = await readDaysWithoutBlocks(own.database, [
      START_MS,
      START_MS + 2 * DAY_MS,
      START_MS - DAY_MS,
    ]);
    expect(days).toEqual(new Set([START_MS]));
  });
});

describe('lockLists()', () => {
  test('lets only one transaction at a time add to the top lists of a node', async () => {
    await own.database.withClient(async (one) => {
      await one.query('BEGIN');
      expect(await lockLists(one, 7)).toBe(true);
      await own.database.withClient(async (other) => {
        expect([await lockLists(other, 7), await lockLists(other, 8)]).toEqual([false, true]);
      });
      await one.query('ROLLBACK');
    });
  });
});
