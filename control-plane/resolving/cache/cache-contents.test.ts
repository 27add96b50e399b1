import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  CACHE_LOCK_OF_CONTROL_PLANE,
  CacheHead,
  createAnswerCache,
} from '../../../shared/memory/answer-cache-layout.ts';
import { Counter } from '../../../shared/memory/counters.ts';
import { type KeptAnswer, keepAnswer } from '../../../test/support/parts/kept-answer.ts';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { CacheContents, share } from './cache-contents.ts';

let clock: TestClock;
beforeEach(() => {
  clock = new TestClock();
});

function keep(cache: SharedArrayBuffer, name: string, ttlSecs: number, answer?: KeptAnswer): void {
  keepAnswer(cache, clock.monotonicMs() / 1000, name, ttlSecs, answer);
}

async function names(buffer: SharedArrayBuffer): Promise<string[]> {
  const page = await new CacheContents(buffer, () => 0).page({ limit: 1000, offset: 0 }, clock);
  return page.data.map(({ domain }) => domain).sort();
}

describe('CacheContents', () => {
  test('page() returns dates of the wall clock, even after 2038', async () => {
    clock.wallMs = Date.UTC(2040, 0, 1);
    const buffer = createAnswerCache(0);
    keep(buffer, 'example.org', 300);
    clock.advance(60_000);
    const { data } = await new CacheContents(buffer, () => 0).page({ limit: 1, offset: 0 }, clock);
    expect(data).toMatchObject([
      {
        ttl_secs: 240,
        stored_at: '2040-01-01T00:00:00.000Z',
        expires_at: '2040-01-01T00:05:00.000Z',
        stale_until: '2040-01-01T00:05:00.000Z',
      },
    ]);
  });

  test('drop() removes the entries of a name, of the names below it, or all entries', async () => {
    const buffer = createAnswerCache(0);
    for (const name of ['example.org', 'a.example.org', 'b.a.example.org', 'example.com'])
      keep(buffer, name, 300);
    const contents = new CacheContents(buffer, () => 0);
    expect(await contents.drop({ domain: 'EXAMPLE.org.' })).toBe(1);
    expect(await contents.drop({ domain: '*.a.example.org', type: 'AAAA' })).toBe(0);
    expect(await contents.drop({ domain: '*.a.example.org', type: 'a' })).toBe(2);
    expect(await names(buffer)).toEqual(['example.com']);
    expect(await contents.drop({})).toBe(1);
    expect(contents.metrics()).toMatchObject({ entries: 0, insertions: 4 });
    keep(buffer, 'example.net', 300);
    expect(await names(buffer)).toEqual(['example.net']);
  });

  test('drop() waits for the lock of a worker, and releases the lock', async () => {
    const buffer = createAnswerCache(0);
    keep(buffer, 'example.org', 300);
    const head = new Int32Array(buffer, 0, CacheHead.BYTES >>> 2);
    Atomics.store(head, CacheHead.LOCK_WORD, 1);
    const dropping = new CacheContents(buffer, () => 0).drop({});
    expect(await names(buffer)).toEqual(['example.org']);
    Atomics.store(head, CacheHead.LOCK_WORD, 0);
    expect(await dropping).toBe(1);
    expect(Atomics.load(head, CacheHead.LOCK_WORD)).not.toBe(CACHE_LOCK_OF_CONTROL_PLANE);
  });

  test('page() counts all matching entries, and returns the requested part of them', async () => {
    const buffer = createAnswerCache(0);
    for (const name of ['a.example', 'b.example', 'c.example', 'd.test']) keep(buffer, name, 300);
    const contents = new CacheContents(buffer, () => 0);
    const page = (offset: number, limit: number) =>
      contents.page({ domain: '*.example', limit, offset }, clock);
    const all = await page(0, 10);
    expect([all.total, all.data.length]).toEqual([3, 3]);
    expect(await page(1, 1)).toEqual({ data: [all.data[1]], total: 3, limit: 1, offset: 1 });
    expect(await page(3, 1)).toEqual({ data: [], total: 3, limit: 1, offset: 3 });
  });

  test('page() returns the remaining lifetime of an entry, at least 0', async () => {
    const buffer = createAnswerCache(0);
    keep(buffer, 'a.example', 10, { qtype: 28, dnssecOk: true, rcode: 3, size: 40 });
    keep(buffer, 'a.example', 10, { qtype: 28, checkingDisabled: true });
    clock.advance(11_000);
    const { data } = await new CacheContents(buffer, () => 0).page(
      { type: 'aaaa', limit: 9, offset: 0 },
      clock,
    );
    const [secure, unchecked] = data.toSorted((a, b) => b.bytes - a.bytes);
    expect(secure).toMatchObject({
      ...{ domain: 'a.example', type: 'AAAA', rcode: 'NXDOMAIN', ttl_secs: 0, answers: 1, in_use: false },
      ...{ dnssec_ok: true, checking_disabled: false, dnssec_status: 'secure' },
    });
    expect(secure!.bytes % 16).toBe(0);
    expect(unchecked).toMatchObject({ rcode: 'NOERROR', dnssec_ok: false, checking_disabled: true });
  });

  test('drop() removes only the entries of the root for ".", and all entries for the root with subdomains', async () => {
    const buffer = createAnswerCache(0);
    for (const name of ['.', 'a.example']) keep(buffer, name, 300);
    const contents = new CacheContents(buffer, () => 0);
    expect(await contents.drop({ domain: '.' })).toBe(1);
    expect(await contents.drop({ domain: '*..' })).toBe(1);
  });

  test('metrics() returns the hit rate of all threads', () => {
    const totals = new Map<number, number>([
      [Counter.CACHE_HITS, 2],
      [Counter.CACHE_MISSES, 1],
      [Counter.CACHE_REFRESHES, 5],
      [Counter.CACHE_STALE_HITS, 6],
    ]);
    const buffer = createAnswerCache(0);
    keep(buffer, 'a.example', 300);
    expect(new CacheContents(buffer, (counter) => totals.get(counter)!).metrics()).toMatchObject({
      ...{ entries: 1, insertions: 1, evictions: 0, hits: 2, misses: 1, hit_rate: 66.67 },
      ...{ optimistic_refreshes: 5, stale_hits: 6 },
    });
  });
});

describe('share()', () => {
  test('returns a percentage with two decimals, and 0 without queries', () => {
    expect([share(0, 0), share(1, 0), share(0, 1), share(1, 2)]).toEqual([0, 100, 0, 33.33]);
  });
});
