import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { type TestDatabase, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import { recordRevision } from './record-revision-store.ts';
import * as store from './revision-store.ts';

const AUDIT = { actor: { name: 'me', address: null }, action: 'changed' };
let own: TestDatabase;

beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(async () => {
  await asOwner(own.database, 'TRUNCATE revisions RESTART IDENTITY');
  await asOwner(own.database, 'TRUNCATE list_sources RESTART IDENTITY CASCADE');
});
afterAll(() => own.stop());

async function record(count: number, isOwn = false): Promise<void> {
  for (let one = 0; one < count; one++)
    await own.database.transaction((tx) =>
      recordRevision(tx, { isOwn, summary: `change ${one}`, audit: { ...AUDIT, subject: `thing ${one}` } }),
    );
}

describe('listRevisions', () => {
  test('lists the newest first, and which of them one can go back to', async () => {
    await record(2);
    await record(store.KEPT_OWN_POLICIES + 1, true);
    await record(store.KEPT_POLICIES - 1);
    const revisions = await store.listRevisions(own.database);
    expect(revisions).toHaveLength(32);
    expect(revisions[0]).toMatchObject({ id: 32, author: 'me', summary: 'change 18', can_rollback: true });
    // The first of people, and the first of Weir's own.
    expect(revisions.filter((revision) => !revision.can_rollback).map(({ id }) => id)).toEqual([3, 1]);
  });
});

describe('newestRevision and readRevision', () => {
  test('read one revision', async () => {
    await record(2);
    const [newest, before] = await store.listRevisions(own.database);
    expect(await store.newestRevision(own.database)).toEqual(newest);
    expect(await store.readRevision(own.database, 1)).toEqual(before);
  });
});

describe('refuseForgotten', () => {
  test('lets a kept revision pass, is 409 for one that is too old and 404 for one that never was', async () => {
    await record(store.KEPT_POLICIES + 1);
    await expect(store.refuseForgotten(own.database, 2)).resolves.toBeUndefined();
    await expect(store.refuseForgotten(own.database, 1)).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('only the last 20, and 10 of Weir'),
    });
    await expect(store.refuseForgotten(own.database, 99)).rejects.toMatchObject({ status: 404 });
  });
});

describe('neededCopies', () => {
  test('names the copies of kept revisions, and those that count or are held now', async () => {
    expect(await store.neededCopies(own.database)).toEqual(new Set());
    await own.database.query(
      `INSERT INTO list_sources (name, url, content_key) VALUES ('ads', 'https://a.example/', 'first')`,
    );
    await record(1);
    await own.database.query(`UPDATE list_sources SET content_key = 'second', held_key = 'third'`);
    expect(await store.neededCopies(own.database)).toEqual(new Set(['first', 'second', 'third']));
    await record(store.KEPT_POLICIES);
    expect(await store.neededCopies(own.database)).toEqual(new Set(['second', 'third']));
  });
});
