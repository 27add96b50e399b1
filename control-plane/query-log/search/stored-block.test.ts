/** Compares parts of blocks with whole blocks. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { emptyLog, storeRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { BlockReader } from '../block/block-reader.ts';
import { DamagedBlock } from '../block/block-layout.ts';
import { scanBlocks } from './block-scan.ts';
import {
  dateOfMoment,
  fetchBlock,
  fetchPieces,
  momentOf,
  type Piece,
  type StoredBlock,
} from './stored-block.ts';

const NOON_MS = Date.UTC(2026, 6, 5, 12);
const EVER = { fromUs: 0, toUs: Date.UTC(2100, 0) * 1000 };

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterEach(() => emptyLog(own.database));
afterAll(() => own.stop());

async function stored(): Promise<StoredBlock[]> {
  const pieces = (): ReadonlySet<Piece> => new Set();
  return Array.fromAsync(scanBlocks(own.database, { ...EVER, reader: 'log', pieces }));
}

const fetched = async (block: StoredBlock, ...pieces: Piece[]): Promise<StoredBlock> =>
  (await fetchPieces(own.database, [{ block, pieces: new Set(pieces) }]))[0]!;

const READS: Readonly<Record<Piece, (reader: BlockReader) => unknown>> = {
  head: (reader) => reader.head,
  texts: (reader) => reader.nameTexts(),
  names: (reader) => reader.names(),
  times: (reader) => reader.times(),
  nameOf: (reader) => reader.nameOf(),
  clientOf: (reader) => reader.clientOf(),
  outcomeOf: (reader) => reader.outcomeOf(),
  queries: (reader) => [reader.times(), reader.responseTimes()],
  answers: (reader) => reader.answers()?.recordsOf(1),
};
const PIECES = Object.keys(READS) as Piece[];

/** The pieces of a block that can be read. */
function readable(block: StoredBlock): Piece[] {
  const { head } = new BlockReader(block);
  return PIECES.filter((piece) => {
    try {
      READS[piece](new BlockReader(block, head));
      return true;
    } catch (error) {
      if (error instanceof DamagedBlock) return false;
      throw error;
    }
  });
}

describe('fetchPieces()', () => {
  test('returns each part of a block as it is in the whole block', async () => {
    const answers = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 192, 0, 2, 1]);
    const rows = Array.from({ length: 50 }, (_, i) =>
      logRow({ timestampMs: NOON_MS + i, client: Uint8Array.of(192, 0, 2, i), qtype: i, answers }),
    );
    await storeRows(own.database, rows);
    const [block] = await stored();
    const whole = new BlockReader((await fetchBlock(own.database, block!, new Set(PIECES)))!);
    for (const piece of PIECES)
      for (const other of PIECES) {
        const part = new BlockReader(await fetched(block!, 'head', piece, other));
        expect(READS[piece](part)).toEqual(READS[piece](whole));
      }
    expect(readable(await fetched(block!, 'head', 'clientOf'))).toEqual(['head', 'clientOf']);
    expect(readable(await fetched(block!, 'head', 'nameOf', 'outcomeOf'))).toEqual([
      ...['head', 'nameOf', 'clientOf', 'outcomeOf'],
    ]);
  });

  test('returns blocks of several days in the requested order, without blocks that no longer exist', async () => {
    for (const day of [0, 1, 2])
      await storeRows(own.database, [logRow({ timestampMs: NOON_MS + day * 86_400_000 })]);
    const blocks = await stored();
    const wanted = [2, 0, 1].map((at) => ({ block: blocks[at]!, pieces: new Set(['times'] as const) }));
    const times = async (): Promise<number[]> =>
      (await fetchPieces(own.database, wanted)).map(({ lastUs }) => (lastUs / 1000 - NOON_MS) / 86_400_000);
    expect(await times()).toEqual([0, 2, 1]);
    await own.database.query('DELETE FROM query_blocks WHERE day = $1', ['2026-07-07']);
    expect(await times()).toEqual([0, 1]);
  });

  test.each(['{}', '{-5,3,-2,1,1,1,1,1}', '{2147483647,2147483647,2147483647,2147483647,1,1,1,1}'])(
    'reports part lengths of %s as damage',
    async (lengths) => {
      await storeRows(own.database, [logRow({ timestampMs: NOON_MS })]);
      await own.database.query('UPDATE query_blocks SET lengths = $1::integer[]', [lengths]);
      const block = await fetched((await stored())[0]!, 'head', 'texts', 'clientOf');
      expect(() => new BlockReader(block).clientOf()).toThrow(DamagedBlock);
    },
  );
});

describe('momentOf() and dateOfMoment()', () => {
  test.each([
    [1, '1970-01-01T00:00:00.000001Z'],
    [NOON_MS * 1000 + 123_456, '2026-07-05T12:00:00.123456Z'],
    [-5, '1970-01-01T00:00:00.000000Z'],
    [Number.MAX_SAFE_INTEGER * 1000, '9999-12-31T00:00:00.000000Z'],
    [8.64e18, '9999-12-31T00:00:00.000000Z'],
    [-Infinity, '1970-01-01T00:00:00.000000Z'],
  ])('momentOf(%d) is a time that PostgreSQL can read', async (us, expected) => {
    expect([momentOf(us), dateOfMoment(us)]).toEqual([expected, expected.slice(0, 10)]);
    await own.database.query('SELECT $1::timestamptz, $2::date', [momentOf(us), dateOfMoment(us)]);
  });
});
