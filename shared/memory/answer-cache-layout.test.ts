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

describe('positionLimit()', () => {
  test.each([4096, 5 * 4096, 3_000_000_000])('is the last multiple of %d that fits in a word', (units) => {
    const limit = positionLimit(units);
    expect(limit % units).toBe(0);
    expect(limit).toBeLessThanOrEqual(0xffff_ffff);
    expect(limit + units).toBeGreaterThan(0xffff_ffff);
  });
});

describe('createAnswerCache()', () => {
  test.each([1, 8, 64])('accepts %d MiB, and not more', (mebibytes) => {
    const buffer = createAnswerCache(mebibytes * MEBIBYTE);
    expect(buffer.byteLength).toBeLessThanOrEqual(mebibytes * MEBIBYTE);
    expect(buffer.byteLength).toBeGreaterThan(mebibytes * MEBIBYTE - CACHE_SEGMENT_UNITS * CACHE_UNIT);
  });

  test('has complete segments and a power of two of buckets, and their numbers in its head', () => {
    const buffer = createAnswerCache(5 * MEBIBYTE);
    const words = wordsOf(buffer);
    const buckets = words[CacheHead.BUCKET_COUNT_WORD]!;
    const units = words[CacheHead.SLAB_UNITS_WORD]!;
    expect(Math.log2(buckets) % 1).toBe(0);
    expect(units % CACHE_SEGMENT_UNITS).toBe(0);
    expect(buffer.byteLength).toBe(CacheHead.BYTES + buckets * CacheBucket.WORDS * 4 + units * CACHE_UNIT);
  });

  test('makes a working cache even if no memory is requested', () => {
    const buffer = createAnswerCache(0);
    expect(wordsOf(buffer)[CacheHead.BUCKET_COUNT_WORD]).toBeGreaterThanOrEqual(64);
    expect(wordsOf(buffer)[CacheHead.SLAB_UNITS_WORD]).toBe(4 * CACHE_SEGMENT_UNITS);
  });
});

describe('releaseCacheLock()', () => {
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

  test('empties the cache of a dead holder, and advances the slab by one turn', () => {
    const buffer = written(3, 4097);
    const words = wordsOf(buffer);
    releaseCacheLock(buffer, 2);
    const restart = 2 * CACHE_SEGMENT_UNITS + words[CacheHead.SLAB_UNITS_WORD]!;
    expect(words[CacheHead.LOCK_WORD]).toBe(0);
    expect(words[CacheHead.ENTRIES_WORD]).toBe(0);
    expect([words[CacheHead.HEAD_WORD], words[CacheHead.TAIL_WORD]]).toEqual([restart, restart]);
    expect(indexOf(buffer).every((word) => word === 0)).toBe(true);
  });

  test('stays below the limit of positions', () => {
    const probe = createAnswerCache(MEBIBYTE);
    const units = wordsOf(probe)[CacheHead.SLAB_UNITS_WORD]!;
    const limit = positionLimit(units);
    const buffer = written(1, limit - units);
    releaseCacheLock(buffer, 0);
    expect(wordsOf(buffer)[CacheHead.HEAD_WORD]).toBe(0);
  });

  test('changes nothing if another worker, or no worker, holds the lock', () => {
    for (const owner of [0, 2]) {
      const buffer = written(owner, 4097);
      const before = Buffer.from(new Uint8Array(buffer));
      releaseCacheLock(buffer, 2);
      expect(before.equals(new Uint8Array(buffer))).toBe(true);
    }
  });
});
