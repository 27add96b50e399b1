/** The answer cache as the control plane sees it: listed, dropped, saved and loaded. */
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { CacheContents } from '../../control-plane/cache/cache-contents.ts';
import { CacheFile } from '../../control-plane/cache/cache-file.ts';
import { CacheWriter } from '../../dns-worker/cache/cache-writer.ts';
import {
  CACHE_LOCK_OF_CONTROL_PLANE,
  CacheHead,
  createAnswerCache,
} from '../../shared/memory/answer-cache-layout.ts';
import { CacheMemory } from '../../shared/memory/cache-memory.ts';
import { hashName, nameFromText } from '../../shared/dns/name.ts';
import { MemoryLogger } from '../support/parts/memory-logger.ts';
import { TestClock } from '../support/parts/test-clock.ts';

const SETTINGS = { pools: ['a'] };

let folder: string;
let clock: TestClock;
const nowSecs = (): number => clock.monotonicMs() / 1000;
beforeEach(async () => {
  clock = new TestClock();
  folder = await mkdtemp(join(tmpdir(), 'weir-cache-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function keep(buffer: SharedArrayBuffer, name: string, ttlSecs: number, partition = 0, size = 16): void {
  const qname = nameFromText(name)!;
  const hash = { low: 0, high: 0 };
  hashName(qname, 0, 7, 8, hash);
  const body = new Uint8Array(size);
  new CacheWriter(new CacheMemory(buffer), 0).store(
    {
      qname,
      nameLow: hash.low,
      nameHigh: hash.high,
      qtype: 1,
      qclass: 1,
      dnssecOk: false,
      checkingDisabled: false,
      partition,
    },
    {
      rcode: 0,
      authenticated: false,
      answerCount: 1,
      authorityCount: 0,
      body,
      ttlOffsets: Uint16Array.from([6]),
      minTtlSecs: ttlSecs,
      negative: false,
      answersLength: size,
      subnetScope: 0,
    },
    {
      storedAtSecs: nowSecs(),
      expiresAtSecs: nowSecs() + ttlSecs,
      staleUntilSecs: nowSecs() + ttlSecs,
      dnssec: 1,
      upstream: 1,
    },
  );
}

function names(buffer: SharedArrayBuffer): string[] {
  const page = new CacheContents(buffer, () => 0).page({ limit: 1000, offset: 0 }, clock);
  return page.data.map(({ domain }) => domain).sort();
}

describe('CacheFile', () => {
  test('save() and load() keep what has not ended and is not of a forward zone', async () => {
    const before = createAnswerCache(0);
    keep(before, 'a.example.org', 300);
    keep(before, 'b.example.org', 10);
    keep(before, 'zone.example.org', 300, 3);
    const file = new CacheFile(folder, SETTINGS, new MemoryLogger());
    expect(await file.save(before, clock)).toBe(2);
    clock.advance(20_000);
    const after = createAnswerCache(0);
    expect(await file.load(after, clock)).toBe(1);
    expect(names(after)).toEqual(['a.example.org']);
    // The file is for one start.
    expect(await file.load(createAnswerCache(0), clock)).toBe(0);
    keep(after, 'c.example.org', 300);
    expect(names(after)).toEqual(['a.example.org', 'c.example.org']);
  });

  test.each([
    ['the machine was rebooted', { wallSecs: 60, monotonicSecs: -900 }, 240],
    ['the clock was set back by less than that', { wallSecs: 10, monotonicSecs: 100 }, 200],
    ['the clock was set on', { wallSecs: 299, monotonicSecs: 1 }, 1],
    ['the clock was set back', { wallSecs: -1, monotonicSecs: 1 }, null],
  ])('load() prolongs no life where meanwhile %s', async (_what, gone, ttlSecs) => {
    const before = createAnswerCache(0);
    keep(before, 'a.example.org', 300);
    const file = new CacheFile(folder, SETTINGS, new MemoryLogger());
    await file.save(before, clock);
    clock.wallMs += gone.wallSecs * 1000;
    clock.sinceBootMs += gone.monotonicSecs * 1000;
    const after = createAnswerCache(0);
    expect(await file.load(after, clock)).toBe(ttlSecs === null ? 0 : 1);
    const { data } = new CacheContents(after, () => 0).page({ limit: 10, offset: 0 }, clock);
    expect(data.map(({ ttl_secs }) => ttl_secs)).toEqual(ttlSecs === null ? [] : [ttlSecs]);
  });

  test('load() fills a smaller cache as far as it goes, and the writer goes on behind it', async () => {
    const before = createAnswerCache(4 * 1024 * 1024);
    for (let i = 0; i < 2000; i++) keep(before, `n${String(i)}.example.org`, 300, 0, 1000);
    const file = new CacheFile(folder, SETTINGS, new MemoryLogger());
    expect(await file.save(before, clock)).toBe(2000);
    const after = createAnswerCache(0);
    const loaded = await file.load(after, clock);
    expect(loaded).toBeGreaterThan(100);
    expect(names(after)).toHaveLength(Math.min(loaded, 1000));
    for (let i = 0; i < 2000; i++) keep(after, `m${String(i)}.example.org`, 300, 0, 1000);
    expect(names(after)).toContain('m1999.example.org');
  });

  test.each<[string, (path: string) => Promise<void>]>([
    ['was cut short', async (path) => writeFile(path, (await readFile(path)).subarray(0, -40))],
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
  ])('load() leaves a file unread that %s', async (_what, spoil) => {
    const before = createAnswerCache(0);
    keep(before, 'a.example.org', 300);
    const file = new CacheFile(folder, SETTINGS, new MemoryLogger());
    await file.save(before, clock);
    await spoil(join(folder, 'answer-cache'));
    expect(await file.load(createAnswerCache(0), clock)).toBe(0);
  });

  test('load() leaves a file of other settings unread', async () => {
    const before = createAnswerCache(0);
    keep(before, 'a.example.org', 300);
    await new CacheFile(folder, SETTINGS, new MemoryLogger()).save(before, clock);
    const other = new CacheFile(folder, { pools: ['b'] }, new MemoryLogger());
    expect(await other.load(createAnswerCache(0), clock)).toBe(0);
  });
});

describe('CacheContents', () => {
  test('page() shows dates of the wall clock, beyond 2038 too', () => {
    clock.wallMs = Date.UTC(2040, 0, 1);
    const buffer = createAnswerCache(0);
    keep(buffer, 'example.org', 300);
    clock.advance(60_000);
    const { data } = new CacheContents(buffer, () => 0).page({ limit: 1, offset: 0 }, clock);
    expect(data).toMatchObject([
      {
        ttl_secs: 240,
        stored_at: '2040-01-01T00:00:00.000Z',
        expires_at: '2040-01-01T00:05:00.000Z',
        stale_until: '2040-01-01T00:05:00.000Z',
      },
    ]);
  });

  test('drop() takes a name, names below it, or all', async () => {
    const buffer = createAnswerCache(0);
    for (const name of ['example.org', 'a.example.org', 'b.a.example.org', 'example.com'])
      keep(buffer, name, 300);
    const contents = new CacheContents(buffer, () => 0);
    expect(await contents.drop({ domain: 'EXAMPLE.org.' })).toBe(1);
    expect(await contents.drop({ domain: '*.a.example.org', type: 'AAAA' })).toBe(0);
    expect(await contents.drop({ domain: '*.a.example.org', type: 'a' })).toBe(2);
    expect(names(buffer)).toEqual(['example.com']);
    expect(await contents.drop({})).toBe(1);
    expect(contents.metrics()).toMatchObject({ entries: 0, insertions: 4 });
    keep(buffer, 'example.net', 300);
    expect(names(buffer)).toEqual(['example.net']);
  });

  test('drop() waits for the lock of a worker and lets it go', async () => {
    const buffer = createAnswerCache(0);
    keep(buffer, 'example.org', 300);
    const head = new Int32Array(buffer, 0, CacheHead.BYTES >>> 2);
    Atomics.store(head, CacheHead.LOCK_WORD, 1);
    const dropping = new CacheContents(buffer, () => 0).drop({});
    expect(names(buffer)).toEqual(['example.org']);
    Atomics.store(head, CacheHead.LOCK_WORD, 0);
    expect(await dropping).toBe(1);
    expect(Atomics.load(head, CacheHead.LOCK_WORD)).not.toBe(CACHE_LOCK_OF_CONTROL_PLANE);
  });
});
