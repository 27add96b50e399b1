import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { type TestDatabase, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import { recordRevision } from './record-revision-store.ts';
import * as store from './revision-store.ts';

const AUDIT = { actor: { name: 'me', address: null }, action: codedAction('changed') };
let own: TestDatabase;

beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(async () => {
  await asOwner(own.database, 'TRUNCATE revisions');
  await asOwner(own.database, 'ALTER TABLE revisions ALTER id RESTART WITH 1');
  await asOwner(own.database, 'TRUNCATE list_sources RESTART IDENTITY CASCADE');
});
afterAll(() => own.stop());

async function record(count: number, isOwn = false): Promise<void> {
  for (let one = 0; one < count; one++)
    await own.database.transaction((tx) =>
      recordRevision(tx, { isOwn, audit: { ...AUDIT, subject: codedSubject('group', { name: one }) } }),
    );
}

describe('listRevisions()', () => {
  test('lists revisions newest first, and shows which of them can be restored', async () => {
    await record(1, true);
    await record(2);
    await record(30, true);
    await record(store.KEPT_POLICIES - 1);
    const revisions = await store.listRevisions(own.database);
    expect(revisions).toHaveLength(132);
    expect(revisions[0]).toMatchObject({
      id: 132,
      author: 'me',
      summary: 'group 98: changed',
      can_rollback: true,
    });
    expect(revisions.filter(({ is_own: isOwn }) => isOwn)).toHaveLength(31);
    // The first revision by a user, and Weir's own before it.
    expect(revisions.filter((revision) => !revision.can_rollback).map(({ id }) => id)).toEqual([2, 1]);
  });

  test('keeps all revisions of users and the revision before the oldest, however many Weir creates', async () => {
    await record(3, true);
    await record(2);
    await own.database.query(
      `INSERT INTO revisions (author, summary, is_own) SELECT 'system', 'list', true FROM generate_series(1, 1500)`,
    );
    await record(1, true);
    const revisions = await store.listRevisions(own.database);
    expect(revisions).toHaveLength(1003);
    expect(revisions.slice(-3).map(({ id, can_rollback: can }) => [id, can])).toEqual([
      [5, true],
      [4, true],
      [3, true],
    ]);
  });
});

describe('newestRevision() and readRevision()', () => {
  test('read one revision', async () => {
    await record(2);
    const [newest, before] = await store.listRevisions(own.database);
    expect(await store.newestRevision(own.database)).toEqual(newest);
    expect(await store.readRevision(own.database, 1)).toEqual(before);
  });
});

describe('refuseForgotten()', () => {
  test('accepts a kept revision, and throws 409 for a deleted revision and 404 for one that never existed', async () => {
    await record(store.KEPT_POLICIES + 1);
    await expect(store.refuseForgotten(own.database, 2)).resolves.toBeUndefined();
    await expect(store.refuseForgotten(own.database, 1)).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('only the last 100 made by users'),
    });
    await expect(store.refuseForgotten(own.database, 999)).rejects.toMatchObject({ status: 404 });
  });
});

describe('neededCopies()', () => {
  test('returns list copies that users replaced after a kept revision, and copies that are active or held', async () => {
    expect(await store.neededCopies(own.database)).toEqual(new Set());
    await own.database.query(
      `INSERT INTO list_sources (name, url, content_key) VALUES ('ads', 'https://a.example/', 'first')`,
    );
    await record(1);
    await own.database.query(`UPDATE list_sources SET content_key = 'second', held_key = 'third'`);
    await record(1);
    expect(await store.neededCopies(own.database)).toEqual(new Set(['first', 'second', 'third']));
    await record(store.KEPT_POLICIES - 1);
    expect(await store.neededCopies(own.database)).toEqual(new Set(['second', 'third']));
  });

  test('does not return list copies that Weir itself has replaced', async () => {
    await own.database.query(
      `INSERT INTO list_sources (name, url, content_key) VALUES ('ads', 'https://a.example/', 'first')`,
    );
    await record(1);
    await own.database.transaction(async (tx) => {
      await tx.query(`UPDATE list_sources SET content_key = 'second'`);
      const audit = { ...AUDIT, subject: codedSubject('blocklist', { name: 'ads' }) };
      await recordRevision(tx, { isOwn: true, audit });
    });
    expect(await store.neededCopies(own.database)).toEqual(new Set(['second']));
  });
});
