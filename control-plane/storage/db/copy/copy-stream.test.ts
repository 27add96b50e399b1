import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../../test/support/parts/as-owner.ts';
import { startTestDatabase, type TestDatabase } from '../../../../test/support/parts/test-database.ts';
import { copyRowsIn, copyRowsOut } from './copy-stream.ts';

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
  await asOwner(own.database, 'CREATE TABLE original (n integer PRIMARY KEY, bytes bytea)');
  await asOwner(own.database, 'CREATE TABLE copied (LIKE original)');
  await own.database.query(`INSERT INTO original SELECT n, convert_to(repeat(n::text, n * 20), 'UTF8')
    FROM generate_series(1, 500) AS n`);
});
afterAll(() => own.stop());

describe('copyRowsOut() and copyRowsIn()', () => {
  test('copyRowsOut() returns the rows that copyRowsIn() stores, even if they exceed the memory limit', async () => {
    const { database } = own;
    await database.withClient((from) =>
      database.withClient((into) =>
        copyRowsIn(into, 'copied (n, bytes)', copyRowsOut(from, 'original (n, bytes)')),
      ),
    );
    const { rows } = await database.query(
      'SELECT count(*)::integer AS rows, sum(length(bytes)) > 5000000 AS are_many FROM copied NATURAL JOIN original',
    );
    expect(rows).toEqual([{ rows: 500, are_many: true }]);
  });

  test('copyRowsOut() and copyRowsIn() fail with the error of the server', async () => {
    await own.database.withClient(async (client) => {
      await expect(copyRowsOut(client, 'missing (n)').next()).rejects.toThrow('does not exist');
      const none = (async function* () {})();
      await expect(copyRowsIn(client, 'missing (n)', none)).rejects.toThrow('does not exist');
    });
  });
});
