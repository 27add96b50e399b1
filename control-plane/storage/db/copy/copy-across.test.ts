import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../../test/support/parts/as-owner.ts';
import { startTestDatabase, type TestDatabase } from '../../../../test/support/parts/test-database.ts';
import { copyAcross, CopyDiffers, sumUp } from './copy-across.ts';

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
  await asOwner(own.database, 'CREATE TABLE original (n integer PRIMARY KEY, bytes bytea)');
  await own.database.query(`INSERT INTO original SELECT n, convert_to(repeat(n::text, n * 40), 'UTF8')
    FROM generate_series(1, 500) AS n`);
});
afterAll(() => own.stop());

/** Copies between two connections to the same server, which represent two servers. */
function across(to: string): Promise<void> {
  const { database } = own;
  return database.withClient((from) =>
    database.withClient((into) => copyAcross({ from, to: into }, { from: 'original (n, bytes)', to })),
  );
}

describe('copyAcross()', () => {
  test('copies rows, even many more than fit into a socket buffer', async () => {
    await asOwner(own.database, 'CREATE TABLE copied (LIKE original)');
    await across('copied (n, bytes)');
    const { rows } = await own.database.query(
      'SELECT count(*) AS rows, sum(length(bytes)) > 10000000 AS are_many FROM copied NATURAL JOIN original',
    );
    expect(rows).toEqual([{ rows: 500, are_many: true }]);
  });

  test('detects a row that was changed during the copy', async () => {
    await asOwner(own.database, 'CREATE TABLE changed (LIKE original)');
    await asOwner(
      own.database,
      `CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN NEW.bytes := CASE NEW.n WHEN 400 THEN overlay(NEW.bytes PLACING '5' FROM 7) ELSE NEW.bytes END; RETURN NEW; END $$`,
    );
    await asOwner(
      own.database,
      'CREATE TRIGGER change BEFORE INSERT ON changed FOR EACH ROW EXECUTE FUNCTION change()',
    );
    await expect(across('changed (n, bytes)')).rejects.toThrow(CopyDiffers);
  });

  test('fails with the error of either server', async () => {
    await expect(across('missing (n, bytes)')).rejects.toThrow('relation "missing" does not exist');
    await asOwner(own.database, 'CREATE TABLE narrow (n integer, bytes bytea CHECK (length(bytes) < 30000))');
    await expect(across('narrow (n, bytes)')).rejects.toThrow('violates check constraint');
  });
});

describe('sumUp()', () => {
  test('is the same in any order of the rows', async () => {
    await asOwner(own.database, 'CREATE TABLE turned AS SELECT * FROM original ORDER BY n DESC');
    const [original, turned] = await own.database.withClient(async (client) => [
      await sumUp(client, 'original (n, bytes)'),
      await sumUp(client, 'turned (n, bytes)'),
    ]);
    expect(turned).toBe(original);
    expect(turned).toMatch(/^500 rows of \d+ bytes/);
  });
});
