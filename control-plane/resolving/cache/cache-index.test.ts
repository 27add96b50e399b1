import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  CACHE_UNIT,
  CacheBucket,
  CacheEntry,
  CacheHead,
  createAnswerCache,
} from '../../../shared/memory/answer-cache-layout.ts';
import { CacheMemory } from '../../../shared/memory/cache-memory.ts';
import { keepAnswer } from '../../../test/support/parts/kept-answer.ts';
import { CacheBusy, CacheIndex, entryName, isWhole } from './cache-index.ts';
import { EntryMatch } from './entry-match.ts';

let cache: SharedArrayBuffer;
let memory: CacheMemory;
let index: CacheIndex;

beforeEach(() => {
  cache = createAnswerCache(0);
  memory = new CacheMemory(cache);
  index = new CacheIndex(cache);
});

function names(): string[] {
  return [...index.entries()].map(entryName).sort();
}

/** The first word of the index that names an entry. */
function firstReference(): number {
  for (let bucket = 0; bucket <= memory.bucketMask; bucket++)
    for (let slot = 0; slot < CacheBucket.SLOTS; slot++) {
      const at = (bucket << CacheBucket.SHIFT) + CacheBucket.REFERENCE_AT + slot;
      if (memory.index[at] !== 0) return at;
    }
  throw new Error('find an entry: there is none');
}

describe('CacheIndex', () => {
  test('entries() returns copies that do not change', () => {
    keepAnswer(cache, 1000, 'a.example', 300, { size: 40 });
    const [entry] = index.entries();
    const before = Buffer.from(entry!.bytes);
    memory.slab.fill(0xff);
    expect(Buffer.from(entry!.bytes)).toEqual(before);
    expect(entry!.bytes.length).toBe(entry!.view.getUint32(CacheEntry.UNITS, true) * CACHE_UNIT);
    expect(entryName(entry!)).toBe('a.example');
  });

  test('entries() leaves out overwritten and damaged entries', () => {
    keepAnswer(cache, 1000, 'a.example', 300);
    const position = memory.index[firstReference()]! - 1;
    const units = (position * CACHE_UNIT + CacheEntry.UNITS) >>> 2;
    const length = memory.slabWords[units]!;
    memory.slabWords[units] = length + 1;
    expect(names()).toEqual(['a.example']);
    memory.slabWords[units] = 1;
    expect(names()).toEqual([]);
    memory.slabWords[units] = length;
    expect(names()).toEqual(['a.example']);
    // Simulates that the tail has passed the entry.
    memory.head[CacheHead.TAIL_WORD] = position + 1;
    expect(names()).toEqual([]);
  });

  test('entries() shows whether an entry was used since the cache last checked it for eviction', () => {
    keepAnswer(cache, 1000, 'a.example', 300);
    expect([...index.entries()].map(({ inUse }) => inUse)).toEqual([false]);
    const at = firstReference();
    const bucket = at & ~(CacheBucket.WORDS - 1);
    const slot = at - bucket - CacheBucket.REFERENCE_AT;
    memory.index[bucket + CacheBucket.USED_AT] = 1 << slot;
    expect([...index.entries()].map(({ inUse }) => inUse)).toEqual([true]);
    memory.index[bucket + CacheBucket.USED_AT] = ~(1 << slot);
    expect([...index.entries()].map(({ inUse }) => inUse)).toEqual([false]);
  });

  test('bytes grows by the size of each entry, and drop() does not decrease it', async () => {
    expect(index.bytes).toBe(0);
    keepAnswer(cache, 1000, 'a.example', 300);
    keepAnswer(cache, 1000, 'b.example', 300);
    const taken = [...index.entries()].reduce((sum, { bytes }) => sum + bytes.length, 0);
    expect(index.bytes).toBe(taken);
    expect(await index.drop(new EntryMatch({ domain: 'a.example' }))).toBe(1);
    expect([names(), index.head(CacheHead.ENTRIES_WORD), index.bytes]).toEqual([['b.example'], 1, taken]);
    expect(index.head(CacheHead.LOCK_WORD)).toBe(0);
  });

  test('drop() releases the lock if the matcher throws, and rejects if it never gets the lock', async () => {
    keepAnswer(cache, 1000, 'a.example', 300);
    const broken = (): boolean => {
      throw new Error('bug');
    };
    await expect(index.drop({ matches: broken })).rejects.toThrow('bug');
    expect(index.head(CacheHead.LOCK_WORD)).toBe(0);
    Atomics.store(memory.head, CacheHead.LOCK_WORD, 1);
    await expect(index.drop(new EntryMatch({}))).rejects.toThrow(CacheBusy);
    expect([names(), index.head(CacheHead.LOCK_WORD)]).toEqual([['a.example'], 1]);
  });
});

describe('isWhole()', () => {
  test('is false for an entry whose name or message extends beyond its end', () => {
    keepAnswer(cache, 1000, 'a.example', 300);
    const { bytes } = [...index.entries()][0]!;
    expect(isWhole(bytes)).toBe(true);
    expect(isWhole(bytes.subarray(0, -CACHE_UNIT))).toBe(false);
    expect(isWhole(bytes.subarray(0, CacheEntry.QNAME - 1))).toBe(false);
    const changed = (field: number, value: number): Uint8Array => {
      const copy = bytes.slice();
      new DataView(copy.buffer).setUint16(field, value, true);
      return copy;
    };
    expect(isWhole(changed(CacheEntry.BODY_LENGTH, 0))).toBe(true);
    expect(isWhole(changed(CacheEntry.BODY_LENGTH, bytes.length))).toBe(false);
    expect(isWhole(changed(CacheEntry.TTL_COUNT, 1000))).toBe(false);
    const nameless = bytes.slice();
    nameless[CacheEntry.QNAME_LENGTH] = 0;
    expect(isWhole(nameless)).toBe(false);
  });
});
