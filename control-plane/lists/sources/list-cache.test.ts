import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListCache } from './list-cache.ts';

const KEY_A = 'a'.repeat(32);
const KEY_B = 'b'.repeat(32);
const NONE = async (): Promise<ReadonlySet<string>> => new Set();
const URL_1 = 'http://lists.example/1';
const URL_2 = 'http://lists.example/2';

let dataDir: string;
let cache: ListCache;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-cache-'));
  cache = new ListCache(dataDir);
  await cache.open();
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

async function put(id: number, url: string, key: string, text: string): Promise<void> {
  const path = cache.temporaryPath();
  writeFileSync(path, text);
  const copy = await cache.store(id, url, key, path);
  cache.use(id, copy.contentKey);
  cache.settle(copy);
}

function files(): string[] {
  return readdirSync(join(dataDir, 'list-cache'));
}

describe('ListCache', () => {
  test('finds stored copies and their sources after a restart', async () => {
    await put(7, URL_1, KEY_A, 'text');
    const again = new ListCache(dataDir);
    await again.open();
    expect(readFileSync(again.copyOf(7)!.path, 'utf8')).toBe('text');
    expect([again.has(7, KEY_A), again.has(7, KEY_B), again.has(8, KEY_A)]).toEqual([true, false, false]);
    expect(again.findAny(KEY_A)).toEqual(again.copyOf(7));
  });

  test('keeps the previous copy on disk until it is pruned', async () => {
    await put(7, URL_1, KEY_A, 'old');
    const before = cache.copyOf(7)!.path;
    await put(7, URL_1, KEY_B, 'new');
    expect(readFileSync(before, 'utf8')).toBe('old');
    await cache.prune(NONE);
    expect(files()).toHaveLength(1);
    expect(readFileSync(cache.copyOf(7)!.path, 'utf8')).toBe('new');
  });

  test('uses the newer of two copies that exist after a crash', async () => {
    await put(7, URL_1, KEY_A, 'old');
    utimesSync(cache.copyOf(7)!.path, 1000, 1000);
    await put(7, URL_1, KEY_B, 'new');
    const again = new ListCache(dataDir);
    await again.open();
    expect(again.copyOf(7)?.contentKey).toBe(KEY_B);
  });

  test('deletes half-written files of a crash, but no files of other programs', async () => {
    writeFileSync(cache.temporaryPath(), 'torn');
    writeFileSync(join(dataDir, 'list-cache', 'README'), 'mine');
    await new ListCache(dataDir).open();
    await cache.prune(NONE);
    expect(files()).toEqual(['README']);
  });

  test('prune() never deletes a copy that is being stored', async () => {
    for (let round = 0; round < 30; round++) {
      const ids = [1, 2, 3, 4];
      const key = round.toString(16).padStart(32, '0');
      await Promise.all([
        ...ids.map((id) => put(id, URL_1, key, `${id} ${round}`)),
        cache.prune(NONE),
        cache.prune(NONE),
      ]);
      expect(ids.map((id) => readFileSync(cache.copyOf(id)!.path, 'utf8'))).toEqual(
        ids.map((id) => `${id} ${round}`),
      );
    }
  });

  test('prune() does not delete a stored copy before settle() is called', async () => {
    const path = cache.temporaryPath();
    writeFileSync(path, 'text');
    const copy = await cache.store(7, URL_1, KEY_A, path);
    await cache.prune(NONE);
    expect(files()).toHaveLength(1);
    cache.settle(copy);
    await cache.prune(NONE);
    expect(files()).toEqual([]);
  });

  test('discard() deletes a copy, and another copy of the key can be stored afterwards', async () => {
    await put(7, URL_1, KEY_A, 'torn');
    await cache.discard(7, cache.copyOf(7)!.path);
    expect([cache.copyOf(7), cache.has(7, KEY_A), files()]).toEqual([undefined, false, []]);
    await put(7, URL_1, KEY_A, 'whole');
    expect(readFileSync(cache.copyOf(7)!.path, 'utf8')).toBe('whole');
  });

  test('removeCopy() keeps a copy that is newer than the given one', async () => {
    await put(7, URL_1, KEY_A, 'old');
    const before = cache.copyOf(7)!.path;
    await put(7, URL_1, KEY_B, 'new');
    cache.removeCopy(7, before);
    expect(cache.copyOf(7)?.contentKey).toBe(KEY_B);
  });

  test('prune() keeps needed copies, which use() can activate again', async () => {
    await put(7, URL_1, KEY_A, 'old');
    const { contentKey } = cache.copyOf(7)!;
    await put(7, URL_1, KEY_B, 'new');
    await cache.prune(async () => new Set([contentKey]));
    expect(files()).toHaveLength(2);
    expect(cache.use(7, contentKey)).toBe(true);
    expect(readFileSync(cache.copyOf(7)!.path, 'utf8')).toBe('old');
    await cache.prune(NONE);
    expect([files().length, cache.use(7, KEY_B)]).toEqual([1, false]);
  });

  test('prune() deletes the copies of sources after removeCopy()', async () => {
    await put(7, URL_1, KEY_A, 'seven');
    await put(8, URL_2, KEY_B, 'eight');
    cache.removeCopy(7);
    await cache.prune(NONE);
    expect(cache.ids()).toEqual([8]);
    expect(files()).toHaveLength(1);
  });
});
