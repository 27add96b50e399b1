import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestDatabase, type TestDatabase } from '../../../../test/support/parts/test-database.ts';
import { type BinaryRow, int4sOf, int8Of } from './copy-out.ts';

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());

function copied(query: string): Promise<BinaryRow[]> {
  return own.database.background().read((tx) => tx.copyOut(query));
}

describe('CopyQueryable', () => {
  test('copyOut() returns values as they are stored', async () => {
    const [row] = await copied(
      "SELECT 7, 4000000000000, '{1,-2,3}'::integer[], '\\x00ff80'::bytea, NULL, true, ''::bytea, -5::bigint",
    );
    const [four, eight, array, bytes, none, flag, empty, negative] = row!;
    expect([four!.readInt32BE(), int8Of(eight!), int4sOf(array!)]).toEqual([7, 4e12, [1, -2, 3]]);
    expect([[...bytes!], none, flag![0], empty!.length, int8Of(negative!)]).toEqual([
      [0, 255, 128],
      null,
      1,
      0,
      -5,
    ]);
    expect(int4sOf((await copied("SELECT '{}'::integer[]"))[0]![0]!)).toEqual([]);
  });

  test('copyOut() returns many large rows in order, and no rows for an empty result', async () => {
    const query =
      "SELECT n, decode(repeat(lpad(to_hex(n), 2, '0'), 50000), 'hex') FROM generate_series(1, 200) n";
    const rows = await copied(query);
    expect(rows.map(([n]) => n!.readInt32BE())).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
    for (const [n, bytes] of rows) expect(bytes!.equals(Buffer.alloc(50_000, n!.readInt32BE()))).toBe(true);
    expect(await copied('SELECT 1 WHERE false')).toEqual([]);
  });

  test('copyOut() leaves the connection usable after a failure', async () => {
    await expect(copied('SELECT 1 / 0')).rejects.toMatchObject({ code: '22012' });
    await expect(copied('SELECT 1 / (3 - n) FROM generate_series(1, 5) n')).rejects.toMatchObject({
      code: '22012',
    });
    expect(await copied('SELECT 1')).toHaveLength(1);
  });

  test('copyOut() and query() can alternate in one transaction', async () => {
    const found = await own.database.background().read(async (tx) => {
      const before = await tx.query<{ n: number }>('SELECT $1::integer AS n', [1]);
      const [row] = await tx.copyOut('SELECT 2');
      const after = await tx.query<{ n: number }>('SELECT $1::integer AS n', [3]);
      return [before.rows[0]!.n, row![0]!.readInt32BE(), after.rows[0]!.n];
    });
    expect(found).toEqual([1, 2, 3]);
  });
});
