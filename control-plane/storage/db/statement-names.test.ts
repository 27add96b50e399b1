import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { type TestDatabase, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { Database } from './database.ts';
import { StatementNames } from './statement-names.ts';

let own: TestDatabase;
let database: Database;
beforeAll(async () => {
  own = await startTestDatabase();
  ({ database } = own);
});
afterAll(() => own.stop());

describe('StatementNames', () => {
  test('returns the same name for a text from its second run on, up to a limit of names', () => {
    const names = new StatementNames();
    expect([names.nameOf('a'), names.nameOf('a'), names.nameOf('b'), names.nameOf('a')]).toEqual([
      undefined,
      'weir_0',
      undefined,
      'weir_0',
    ]);
    for (let i = 0; i < 2000; i++) names.nameOf(`once ${i}`);
    const given = Array.from({ length: 1000 }, (_, i) => [`twice ${i}`, `twice ${i}`])
      .flat()
      .flatMap((text) => names.nameOf(text) ?? []);
    expect(given).toHaveLength(299);
  });
});

describe('a repeated statement', () => {
  test('is kept by PostgreSQL on its connection', async () => {
    await database.transaction(async (tx) => {
      for (let i = 0; i < 3; i++) await tx.query('SELECT $1::integer + 1 AS kept_one', [i]);
      const { rows } = await tx.query('SELECT name FROM pg_prepared_statements WHERE statement LIKE $1', [
        '%kept_one%',
      ]);
      expect(rows).toHaveLength(1);
    });
  });

  test('is also kept if it has no values, but not if its text contains several statements', async () => {
    await database.transaction(async (tx) => {
      for (let i = 0; i < 3; i++) {
        expect((await tx.query('SELECT 1 AS kept_without')).rows).toEqual([{ kept_without: 1 }]);
        await tx.query('SELECT 1 AS several; SELECT 2 AS several');
      }
      const { rows } = await tx.query('SELECT statement FROM pg_prepared_statements');
      const kept = rows.map(({ statement }) => statement as string);
      expect(kept.filter((text) => text.includes('kept_without'))).toHaveLength(1);
      expect(kept.filter((text) => text.includes('several'))).toEqual([]);
    });
  });

  test('is planned again after another node has changed its table', async () => {
    await asOwner(database, 'CREATE TABLE altered (id integer, text text)');
    const read = async (): Promise<unknown> =>
      (await database.query('SELECT * FROM altered WHERE id >= $1', [0])).rows;
    await database.query('INSERT INTO altered VALUES (1, $1)', ['one']);
    for (let i = 0; i < 3; i++) expect(await read()).toEqual([{ id: 1, text: 'one' }]);
    await asOwner(database, 'ALTER TABLE altered ADD COLUMN more integer');
    expect(await read()).toEqual([{ id: 1, text: 'one', more: null }]);
    const inChange = (): Promise<unknown> =>
      database.transaction(async (tx) => (await tx.query('SELECT * FROM altered WHERE id = $1', [1])).rows);
    for (let i = 0; i < 3; i++) await inChange();
    await asOwner(database, 'ALTER TABLE altered DROP COLUMN more');
    expect(await inChange()).toEqual([{ id: 1, text: 'one' }]);
  });
});
