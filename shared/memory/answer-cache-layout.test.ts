import { describe, expect, test } from '@jest/globals';
import {
  CACHE_SEGMENT_UNITS,
  CACHE_UNIT,
  CacheBucket,
  CacheHead,
  createAnswerCache,
  positionLimit,
  releaseCacheLock,
} from './answer-cache-layout.ts';

const MEBIBYTE = 1 << 20;

function wordsOf(buffer: SharedArrayBuffer): Int32Array {
  return new Int32Array(buffer, 0, CacheHead.BYTES / 4);
}

function indexOf(buffer: SharedArrayBuffer): Int32Array {
  const buckets = wordsOf(buffer)[CacheHead.BUCKET_COUNT_WORD]!;
  return new Int32Array(buffer, CacheHead.BYTES, buckets * CacheBucket.WORDS);
}

describe('positionLimit(), the limit of positions in the answer cache,', () => {
  test.each([4096, 5 * 4096, 3_000_000_000])(
    'is the last multiple of %d that fits into a 32-bit word',
    (units) => {
      const limit = positionLimit(units);
      expect(limit % units).toBe(0);
      expect(limit).toBeLessThanOrEqual(0xffff_ffff);
      expect(limit + units).toBeGreaterThan(0xffff_ffff);
    },
  );
});

describe('createAnswerCache(), the shared memory of the cache,', () => {
  test.each([1, 8, 64])('allocates the requested %d MiB, and no more', (mebibytes) => {
    const buffer = createAnswerCache(mebibytes * MEBIBYTE);
    expect(buffer.byteLength).toBeLessThanOrEqual(mebibytes * MEBIBYTE);
    expect(buffer.byteLength).toBeGreaterThan(mebibytes * MEBIBYTE - CACHE_SEGMENT_UNITS * CACHE_UNIT);
  });

  test('has only complete segments, 2^n buckets, and both numbers in its header', () => {
    const buffer = createAnswerCache(5 * MEBIBYTE);
    const words = wordsOf(buffer);
    const buckets = words[CacheHead.BUCKET_COUNT_WORD]!;
    const units = words[CacheHead.SLAB_UNITS_WORD]!;
    expect(Math.log2(buckets) % 1).toBe(0);
    expect(units % CACHE_SEGMENT_UNITS).toBe(0);
    expect(buffer.byteLength).toBe(CacheHead.BYTES + buckets * CacheBucket.WORDS * 4 + units * CACHE_UNIT);
  });

  test('returns a usable cache even for a size of 0', () => {
    const buffer = createAnswerCache(0);
    expect(wordsOf(buffer)[CacheHead.BUCKET_COUNT_WORD]).toBeGreaterThanOrEqual(64);
    expect(wordsOf(buffer)[CacheHead.SLAB_UNITS_WORD]).toBe(4 * CACHE_SEGMENT_UNITS);
  });
});

describe('releaseCacheLock(), after a thread has died,', () => {
  /** A cache that the owner of the lock has written up to `head`. */
  function written(owner: number, head: number): SharedArrayBuffer {
    const buffer = createAnswerCache(MEBIBYTE);
    const words = wordsOf(buffer);
    words[CacheHead.LOCK_WORD] = owner;
    words[CacheHead.HEAD_WORD] = head | 0;
    words[CacheHead.TAIL_WORD] = 4096;
    words[CacheHead.ENTRIES_WORD] = 7;
    indexOf(buffer).fill(5);
    return buffer;
  }

  test('empties the cache if the dead thread held the lock, and moves the position by one full turn', () => {
    const buffer = written(3, 4097);
    const words = wordsOf(buffer);
    releaseCacheLock(buffer, 2);
    const restart = 2 * CACHE_SEGMENT_UNITS + words[CacheHead.SLAB_UNITS_WORD]!;
    expect(words[CacheHead.LOCK_WORD]).toBe(0);
    expect(words[CacheHead.ENTRIES_WORD]).toBe(0);
    expect([words[CacheHead.HEAD_WORD], words[CacheHead.TAIL_WORD]]).toEqual([restart, restart]);
    expect(indexOf(buffer).every((word) => word === 0)).toBe(true);
  });

  test('keeps positions in the cache below positionLimit()', () => {
    const probe = createAnswerCache(MEBIBYTE);
    const units = wordsOf(probe)[CacheHead.SLAB_UNITS_WORD]!;
    const limit = positionLimit(units);
    const buffer = written(1, limit - units);
    releaseCacheLock(buffer, 0);
    expect(wordsOf(buffer)[CacheHead.HEAD_WORD]).toBe(0);
  });

  test('changes nothing if a different worker or no worker holds the lock', () => {
    for (const owner of [0, 2]) {
      const buffer = written(owner, 4097);
      const before = Buffer.from(new Uint8Array(buffer));
      releaseCacheLock(buffer, 2);
      expect(before.equals(new Uint8Array(buffer))).toBe(true);
    }
  });
});
