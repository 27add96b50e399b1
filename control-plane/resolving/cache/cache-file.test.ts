import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAnswerCache } from '../../../shared/memory/answer-cache-layout.ts';
import { type KeptAnswer, keepAnswer } from '../../../test/support/parts/kept-answer.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { CacheContents } from './cache-contents.ts';
import { CacheFile } from './cache-file.ts';

const SETTINGS = { pools: ['a'] };

let folder: string;
let clock: TestClock;
beforeEach(async () => {
  clock = new TestClock();
  folder = await mkdtemp(join(tmpdir(), 'weir-cache-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function keep(cache: SharedArrayBuffer, name: string, ttlSecs: number, answer?: KeptAnswer): void {
  keepAnswer(cache, clock.monotonicMs() / 1000, name, ttlSecs, answer);
}

async function names(buffer: SharedArrayBuffer): Promise<string[]> {
  const page = await new CacheContents(buffer, () => 0).page({ limit: 1000, offset: 0 }, clock);
  return page.data.map(({ domain }) => domain).sort();
}

describe('CacheFile', () => {
  test('save() and load() keep entries that have not expired, except those of forward zones', async () => {
    const before = createAnswerCache(0);
    keep(before, 'a.example.org', 300);
    keep(before, 'b.example.org', 10);
    keep(before, 'zone.example.org', 300, { partition: 3 });
    const file = new CacheFile(folder, SETTINGS, new MemoryLogger());
    await file.save(before, clock);
    clock.advance(20_000);
    const after = createAnswerCache(0);
    expect(await file.load(after, clock)).toBe(1);
    expect(await names(after)).toEqual(['a.example.org']);
    // The file was deleted, because it is only valid for one start.
    expect(await file.load(createAnswerCache(0), clock)).toBe(0);
    keep(after, 'c.example.org', 300);
    expect(await names(after)).toEqual(['a.example.org', 'c.example.org']);
  });

  test('image() and fill() pass entries to a process that takes over, without a file', async () => {
    const before = createAnswerCache(0);
    keep(before, 'a.example.org', 300);
    const image = new CacheFile(folder, SETTINGS, new MemoryLogger()).image(before, clock);
    const [after, ofOthers] = [createAnswerCache(0), createAnswerCache(0)];
    expect(new CacheFile(folder, SETTINGS, new MemoryLogger()).fill(after, clock, image)).toBe(1);
    expect(await names(after)).toEqual(['a.example.org']);
    expect(new CacheFile(folder, { pools: ['b'] }, new MemoryLogger()).fill(ofOthers, clock, image)).toBe(0);
  });

  test.each([
    ['the machine was rebooted', { wallSecs: 60, monotonicSecs: -900 }, 240],
    ['the clock was set back by less than the elapsed time', { wallSecs: 10, monotonicSecs: 100 }, 200],
    ['the clock was set forward', { wallSecs: 299, monotonicSecs: 1 }, 1],
    ['the clock was set back', { wallSecs: -1, monotonicSecs: 1 }, null],
  ])('load() extends no TTL if %s after save()', async (_what, gone, ttlSecs) => {
    const before = createAnswerCache(0);
    keep(before, 'a.example.org', 300);
    const file = new CacheFile(folder, SETTINGS, new MemoryLogger());
    await file.save(before, clock);
    clock.wallMs += gone.wallSecs * 1000;
    clock.sinceBootMs += gone.monotonicSecs * 1000;
    const after = createAnswerCache(0);
    expect(await file.load(after, clock)).toBe(ttlSecs === null ? 0 : 1);
    const { data } = await new CacheContents(after, () => 0).page({ limit: 10, offset: 0 }, clock);
    expect(data.map(({ ttl_secs }) => ttl_secs)).toEqual(ttlSecs === null ? [] : [ttlSecs]);
  });

  test('load() fills a smaller cache as far as possible, and new answers can still be added', async () => {
    const before = createAnswerCache(4 * 1024 * 1024);
    for (let i = 0; i < 2000; i++) keep(before, `n${String(i)}.example.org`, 300, { size: 1000 });
    const file = new CacheFile(folder, SETTINGS, new MemoryLogger());
    await file.save(before, clock);
    const after = createAnswerCache(0);
    const loaded = await file.load(after, clock);
    expect(loaded).toBeGreaterThan(100);
    expect(await names(after)).toHaveLength(Math.min(loaded, 1000));
    for (let i = 0; i < 2000; i++) keep(after, `m${String(i)}.example.org`, 300, { size: 1000 });
    expect(await names(after)).toContain('m1999.example.org');
  });

  test.each<[string, (path: string) => Promise<void>]>([
    ['was truncated', async (path) => writeFile(path, (await readFile(path)).subarray(0, -40))],
    ['has grown', (path) => appendFile(path, 'x')],
    ['is empty', (path) => writeFile(path, '')],
    [
      'has a flipped bit',
      async (path) => {
        const bytes = await readFile(path);
        bytes[60]! ^= 1;
        await writeFile(path, bytes);
      },
    ],
  ])('load() does not read a file that %s', async (_what, spoil) => {
    const before = createAnswerCache(0);
    keep(before, 'a.example.org', 300);
    const file = new CacheFile(folder, SETTINGS, new MemoryLogger());
    await file.save(before, clock);
    await spoil(join(folder, 'answer-cache'));
    expect(await file.load(createAnswerCache(0), clock)).toBe(0);
  });

  test('load() does not read a file that was saved with other settings', async () => {
    const before = createAnswerCache(0);
    keep(before, 'a.example.org', 300);
    await new CacheFile(folder, SETTINGS, new MemoryLogger()).save(before, clock);
    const other = new CacheFile(folder, { pools: ['b'] }, new MemoryLogger());
    expect(await other.load(createAnswerCache(0), clock)).toBe(0);
  });

  test('load() logs nothing about a missing file, but logs that it ignores a damaged file', async () => {
    const logger = new MemoryLogger();
    const file = new CacheFile(folder, SETTINGS, logger);
    expect(await file.load(createAnswerCache(0), clock)).toBe(0);
    expect(logger.lines).toEqual([]);
    await writeFile(join(folder, 'answer-cache'), 'damaged');
    expect(await file.load(createAnswerCache(0), clock)).toBe(0);
    expect(logger.text()).toMatch(/^info ignored the answer cache of the last run /);
  });

  test('save() writes a file that only Weir can read', async () => {
    await new CacheFile(folder, SETTINGS, new MemoryLogger()).save(createAnswerCache(0), clock);
    expect((await stat(join(folder, 'answer-cache'))).mode & 0o777).toBe(0o600);
  });
});
