import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { type TestDatabase, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import * as store from './source-store.ts';
import type { StoredSource } from './source-store.ts';

const URL = 'https://lists.example/a';

let own: TestDatabase;

beforeAll(async () => {
  own = await startTestDatabase();
  await own.database.query("INSERT INTO groups (id, name) VALUES (7, 'kids'), (8, 'guests')");
});
beforeEach(() => asOwner(own.database, 'TRUNCATE list_sources RESTART IDENTITY CASCADE'));
afterAll(() => own.stop());

function insert(
  change: Partial<store.NewSource> = {},
  kind: 'block' | 'allow' = 'block',
): Promise<StoredSource> {
  const source = { name: 'ads', url: URL, enabled: true, comment: '', group_ids: [], subdomains: false };
  return own.database.transaction((tx) => store.insertSource(tx, kind, { ...source, ...change }));
}

function update(id: number, change: Parameters<typeof store.updateSource>[3]): Promise<StoredSource> {
  return own.database.transaction((tx) => store.updateSource(tx, 'block', id, change));
}

describe('insertSource()', () => {
  test('stores a source with its groups in order, and without results of a fetch', async () => {
    const source = await insert({ group_ids: [8, 7], comment: 'why', subdomains: true });
    expect(source).toMatchObject({
      ...{ id: 1, kind: 'block', url: URL, comment: 'why', group_ids: [7, 8], subdomains: true },
      ...{ status: 'pending', rules: 0, bytes: 0, format: null, etag: null, lastModified: null },
      ...{
        last_checked_at: null,
        last_error: null,
        contentKey: null,
        heldKey: null,
        held: null,
        judged: null,
      },
      ...{ file_node: null, hasReader: false },
    });
    expect(await store.readSource(own.database, 1, 'block')).toEqual(source);
  });

  test('refuses a URL that another source of the same kind has, with an error without the credentials of the URL', async () => {
    const url = 'https://user:secret@lists.example/a';
    await insert({ url });
    await insert({ url }, 'allow');
    const refused: unknown = await insert({ url }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 409 });
    expect(String(refused)).toContain('lists.example/a already exists');
    expect(String(refused)).not.toContain('secret');
  });

  test('stores nothing if a group does not exist', async () => {
    await expect(insert({ group_ids: [7, 99] })).rejects.toMatchObject({ status: 400 });
    expect(await store.listSources(own.database)).toEqual([]);
  });
});

describe('listSources()', () => {
  test('lists the sources of one kind, or all sources, oldest first', async () => {
    const first = await insert();
    const allow = await insert({}, 'allow');
    const second = await insert({ url: `${URL}2` });
    expect(await store.listSources(own.database)).toEqual([first, allow, second]);
    expect(await store.listSources(own.database, 'block')).toEqual([first, second]);
    expect(await store.listSources(own.database, 'allow')).toEqual([allow]);
    await expect(store.readSource(own.database, allow.id, 'block')).rejects.toMatchObject({
      status: 404,
      message: `blocklist source ${allow.id} does not exist`,
    });
  });
});

describe('updateSource()', () => {
  const FACTS: store.SourceFacts = {
    status: 'held',
    etag: '"1"',
    lastModified: 'yesterday',
    lastError: 'held',
    heldKey: 'b',
    held: { reason: 'shrank', rules: 1, rules_in_force: 3, names: ['a.example'], name_count: 7 },
    contentKey: 'a',
    rules: 3,
    invalidLines: 1,
    bytes: 5_000_000_000,
    format: 'hosts',
  };

  test('keeps fields that are not given, and the results of the last fetch if the URL is the same', async () => {
    const { id } = await insert({ group_ids: [7] });
    await store.recordFacts(own.database, id, URL, FACTS);
    expect(await update(id, { enabled: false, comment: '', url: URL })).toMatchObject({
      ...{ name: 'ads', enabled: false, group_ids: [7], status: 'held', etag: '"1"', last_error: 'held' },
      ...{ lastModified: 'yesterday', heldKey: 'b', contentKey: 'a', rules: 3, bytes: 5_000_000_000 },
      held: FACTS.held,
    });
    expect(await update(id, { group_ids: [] })).toMatchObject({ group_ids: [] });
  });

  test('clears the details of a held update when the update is cleared or replaced', async () => {
    const { id } = await insert();
    await store.recordFacts(own.database, id, URL, FACTS);
    await store.recordFacts(own.database, id, URL, { lastError: 'timeout' });
    expect((await store.readSource(own.database, id)).held).toEqual(FACTS.held);
    await store.recordFacts(own.database, id, URL, { heldKey: null });
    expect((await store.readSource(own.database, id)).held).toBeNull();
    await store.recordFacts(own.database, id, URL, { heldKey: 'c' });
    expect((await store.readSource(own.database, id)).held).toBeNull();
  });

  test('clears the results of the last fetch when the URL changes, but keeps the active copy', async () => {
    const { id } = await insert();
    await store.recordFacts(own.database, id, URL, FACTS);
    expect(await update(id, { url: `${URL}2` })).toMatchObject({
      ...{ status: 'pending', etag: null, lastModified: null, last_error: null, heldKey: null, held: null },
      ...{ contentKey: 'a', rules: 3 },
    });
  });

  test('refuses the URL of another source, an unknown group, and a source of another kind', async () => {
    const { id } = await insert();
    await insert({ url: `${URL}2` });
    const allow = await insert({ url: `${URL}3` }, 'allow');
    await expect(update(id, { url: `${URL}2` })).rejects.toMatchObject({ status: 409 });
    expect((await update(id, { url: `${URL}3` })).url).toBe(`${URL}3`);
    await expect(update(id, { name: 'x', group_ids: [99] })).rejects.toMatchObject({ status: 400 });
    expect((await store.readSource(own.database, id)).name).toBe('ads');
    await expect(update(allow.id, { name: 'x' })).rejects.toMatchObject({ status: 404 });
  });
});

describe('recordFacts()', () => {
  test('stores the given facts only while the source has the URL that they belong to', async () => {
    const { id } = await insert();
    const checked = new Date(Date.UTC(2026, 6, 5));
    expect(await store.recordFacts(own.database, id, URL, { status: 'ok', lastCheckedAt: checked })).toBe(
      true,
    );
    expect(await store.recordFacts(own.database, id, URL, {})).toBe(true);
    expect(await store.recordFacts(own.database, id, URL, { etag: null, lastError: 'x' })).toBe(true);
    expect(await store.readSource(own.database, id)).toMatchObject({
      ...{ status: 'ok', last_checked_at: checked.toISOString(), last_error: 'x', last_changed_at: null },
    });
    expect(await store.recordFacts(own.database, id, `${URL}2`, { status: 'error' })).toBe(false);
    expect(await store.recordFacts(own.database, 99, URL, { status: 'error' })).toBe(false);
    expect((await store.readSource(own.database, id)).status).toBe('ok');
  });
});

describe('deleteSource()', () => {
  test('deletes a source of the given kind with its groups, and returns its name', async () => {
    const { id } = await insert({ group_ids: [7] });
    await expect(store.deleteSource(own.database, 'allow', id)).rejects.toMatchObject({ status: 404 });
    expect(await store.deleteSource(own.database, 'block', id)).toBe('ads');
    await expect(store.deleteSource(own.database, 'block', id)).rejects.toMatchObject({ status: 404 });
  });
});
