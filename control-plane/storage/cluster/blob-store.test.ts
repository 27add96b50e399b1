import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import type { Queryable } from '../db/database.ts';
import { contentKey, DamagedBlob, fetchBlob, missingBlobs, removeBlob, storeBlob } from './blob-store.ts';

/** Longer than two parts, even when it is compressed. */
const TEXT = randomBytes(1_300_000).toString('hex');
const KEY = contentKey(createHash('sha256').update(TEXT).digest('hex'));

let own: TestDatabase;
let files = 0;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterEach(() => asOwner(own.database, 'TRUNCATE blobs'));
afterAll(() => own.stop());

const newPath = (): string => join(own.dataDir, `file-${++files}`);

/** Stores the text. */
async function store(): Promise<void> {
  const path = newPath();
  writeFileSync(path, gzipSync(TEXT));
  await own.database.transaction((tx) => storeBlob(tx, KEY, path));
}

const parts = async (): Promise<unknown> =>
  (await own.database.query('SELECT part, length(bytes) FROM blobs ORDER BY part')).rows;

describe('storeBlob() and fetchBlob()', () => {
  test('return content that is longer than one part, by its key', async () => {
    await store();
    expect(await parts()).toEqual([
      { part: 0, length: 1_048_576 },
      { part: 1, length: expect.any(Number) },
    ]);
    const path = newPath();
    expect(await fetchBlob(own.database, KEY, path)).toBe(true);
    expect(gunzipSync(readFileSync(path)).toString() === TEXT).toBe(true);
    await store();
    expect(await parts()).toHaveLength(2);
  });

  test('report missing blobs', async () => {
    expect(await fetchBlob(own.database, KEY, newPath())).toBe(false);
    await store();
    expect(await missingBlobs(own.database, [KEY, 'another'])).toEqual(['another']);
    await removeBlob(own.database, KEY);
    expect(await missingBlobs(own.database, [KEY])).toEqual([KEY]);
  });

  test.each([
    ['lost a part', 'DELETE FROM blobs WHERE part = 1'],
    ['is truncated', `UPDATE blobs SET bytes = substr(bytes, 1, 900) WHERE part = 0`],
    ['contains another text', `UPDATE blobs SET content_key = repeat('0', 32)`],
  ])('refuse a blob that %s', async (_what, change) => {
    await store();
    await own.database.query(change);
    const { rows } = await own.database.query<{ key: string }>(
      'SELECT content_key AS key FROM blobs LIMIT 1',
    );
    await expect(fetchBlob(own.database, rows[0]!.key, newPath())).rejects.toBeInstanceOf(DamagedBlob);
  });

  test('do not report a blob as damaged if a local file cannot be read', async () => {
    await store();
    const path = newPath();
    const query = own.database.query.bind(own.database);
    const vanishing: Queryable = {
      query: async (text, values) => {
        // Deletes the file after its last part was stored.
        if (values?.[1] === 2) rmSync(path);
        return query(text, values);
      },
    };
    await expect(fetchBlob(vanishing, KEY, path)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
