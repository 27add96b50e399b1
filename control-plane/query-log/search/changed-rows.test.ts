/** Rows that are read by what changed, against all rows. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import fc from '../../../test/support/parts/fast-check.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import type { Queryable } from '../../db/database.ts';
import { ChangedRows, type RowRange, type TableRows } from './changed-rows.ts';

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
  await asOwner(own.database, 'CREATE TABLE numbers (id integer PRIMARY KEY, value integer NOT NULL)');
});
afterAll(() => own.stop());

interface Numbered {
  readonly id: number;
  readonly value: number;
}

const NUMBERS: TableRows<Numbered> = {
  ...{ table: 'numbers', columns: 'id, value', values: ['id', 'value'] },
  digest: 'hashint8extended(value, id)',
  keyOf: ({ id: of }) => String(of),
  toRow: ([id, value]) => ({ id: id as number, value: value as number }),
};

function range(from: number, to: number): RowRange<Numbered> {
  return {
    sql: (put) => `id >= ${put(from)} AND id < ${put(to)}`,
    holds: ({ id }) => id >= from && id < to,
  };
}

/** Counts the rows that are sent. */
function counting(tx: Queryable): { tx: Queryable; sent: () => number } {
  let sent = 0;
  const query: Queryable['query'] = async (text, values) => {
    const found = await tx.query<never>(text, values);
    for (const { changed } of found.rows as { changed: unknown[] | null }[]) sent += changed?.length ?? 0;
    return found;
  };
  return { tx: { query }, sent: () => sent };
}

const id = fc.nat(15);
const change = fc.oneof(
  fc.record({ put: fc.array(fc.record({ id, value: fc.nat(3) }), { minLength: 1, maxLength: 4 }) }),
  fc.record({ remove: id }),
  fc.record({ from: id, length: fc.nat(16) }),
);

describe('ChangedRows', () => {
  test('has the rows that are there, however they and the ranges changed since the last time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 4, maxLength: 16 }), async (changes) => {
        await asOwner(own.database, 'TRUNCATE numbers');
        const rows = new ChangedRows(NUMBERS);
        let ranges = [range(0, 8), range(8, 16)];
        for (const next of changes) {
          if ('put' in next)
            for (const { id: of, value } of next.put)
              await own.database.query(
                'INSERT INTO numbers VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET value = excluded.value',
                [of, value],
              );
          else if ('remove' in next)
            await own.database.query('DELETE FROM numbers WHERE id = $1', [next.remove]);
          else ranges = [range(next.from, next.from + next.length), range(0, next.from)];
          const found = await rows.read(own.database, ranges);
          const all = await own.database.query<Numbered>('SELECT id, value FROM numbers ORDER BY id');
          const sorted = found!.map((some) => some.sort((a, b) => a.id - b.id));
          expect(sorted).toEqual(ranges.map(({ holds }) => all.rows.filter(holds)));
        }
      }),
      { numRuns: 15 },
    );
  });

  test('is sent what was written since the last time, and all once a row is gone', async () => {
    await asOwner(own.database, 'TRUNCATE numbers');
    await own.database.query('INSERT INTO numbers SELECT i, i FROM generate_series(0, 99) AS i');
    const rows = new ChangedRows(NUMBERS);
    const read = async (): Promise<number> => {
      const { tx, sent } = counting(own.database);
      await rows.read(tx, [range(0, 100)]);
      return sent();
    };
    expect(await read()).toBe(100);
    expect(await read()).toBe(0);
    await own.database.query('UPDATE numbers SET value = 7 WHERE id < 3');
    expect(await read()).toBe(3);
    await own.database.query('DELETE FROM numbers WHERE id = 50');
    expect(await read()).toBe(99);
  });

  test('gives up where there are too many rows, and reads them a while after there are fewer', async () => {
    await asOwner(own.database, 'TRUNCATE numbers');
    await own.database.query('INSERT INTO numbers SELECT i, i FROM generate_series(0, 4) AS i');
    const rows = new ChangedRows(NUMBERS, 4);
    expect(await rows.read(own.database, [range(0, 100)])).toBeNull();
    const { tx, sent } = counting(own.database);
    for (let i = 0; i < 16; i++) expect(await rows.read(tx, [range(0, 4)])).toBeNull();
    expect(sent()).toBe(0);
    expect(await rows.read(tx, [range(0, 4)])).toEqual([[0, 1, 2, 3].map((i) => ({ id: i, value: i }))]);
    expect(await rows.read(own.database, [])).toEqual([]);
  });
});
