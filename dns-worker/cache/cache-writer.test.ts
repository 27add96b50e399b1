import { describe, expect, test } from '@jest/globals';
import {
  CACHE_MAX_BODY,
  CACHE_SEGMENT_UNITS,
  CACHE_UNIT,
  CacheBucket,
  CacheEntry,
  CacheHead,
  CacheMarks,
  createAnswerCache,
} from '../../shared/memory/answer-cache-layout.ts';
import { CacheMemory, bodyOffset, keyHashLow } from '../../shared/memory/cache-memory.ts';
import { wireName } from '../../test/support/dns/built-messages.ts';
import { textAnswer } from '../../test/support/dns/record-text.ts';
import type { CacheableAnswer } from '../resolve/response/cacheable-answer.ts';
import { type CacheKey, type CacheNotes, CacheWriter } from './cache-writer.ts';

const ANSWER = textAnswer('www.test 60 A 192.0.2.1');
const NOTES: CacheNotes = {
  storedAtSecs: 10,
  expiresAtSecs: 70,
  staleUntilSecs: 100,
  dnssec: 1,
  upstream: 3,
};

function keyOf(name: string, rest: Partial<CacheKey> = {}): CacheKey {
  return {
    qname: wireName(name),
    nameLow: 7,
    nameHigh: 77,
    qtype: 1,
    qclass: 1,
    dnssecOk: false,
    checkingDisabled: false,
    partition: 0,
    ...rest,
  };
}

function open() {
  const memory = new CacheMemory(createAnswerCache(0));
  return { memory, writer: new CacheWriter(memory, 4), count: (word: number) => memory.head[word] };
}

/** References in the bucket of the names with these hashes. */
function referencesIn({ index, bucketMask }: CacheMemory, qtype = 1): number[] {
  const bucket = (keyHashLow(7, qtype, 0) & bucketMask) << CacheBucket.SHIFT;
  return [...index.subarray(bucket + CacheBucket.REFERENCE_AT, bucket + CacheBucket.USED_AT)].filter(
    (reference) => reference !== 0,
  );
}

/** An answer with a body of this many bytes. */
function sized(bytes: number): CacheableAnswer {
  return { ...ANSWER, body: new Uint8Array(bytes), answerCount: 0, ttlOffsets: new Uint16Array(0) };
}

describe('CacheWriter.store(), which writes answers to the shared cache,', () => {
  test('writes key, metadata and answer at the offsets of the layout, and the bucket reference last', () => {
    const { memory, writer, count } = open();
    const key = keyOf('www.test', { qtype: 28, dnssecOk: true, partition: 300 });
    expect(writer.store(key, { ...ANSWER, rcode: 3 }, { ...NOTES, extendedError: 0 })).toBe(true);
    const { slab, slabWords, slabHalves } = memory;
    const half = (at: number): number => slabHalves[at / 2]!;
    expect([half(CacheEntry.QTYPE), half(CacheEntry.PARTITION), half(CacheEntry.UPSTREAM)]).toEqual([
      28, 300, 3,
    ]);
    const times = [CacheEntry.STORED_AT_SECS, CacheEntry.EXPIRES_AT_SECS, CacheEntry.STALE_UNTIL_SECS];
    expect(times.map((at) => slabWords[at / 4])).toEqual([10, 70, 100]);
    expect([slab[CacheEntry.RCODE], slab[CacheEntry.KEY_FLAGS], slab[CacheEntry.EXTENDED_ERROR]]).toEqual([
      3, 1, 1,
    ]);
    const bodyAt = bodyOffset(key.qname.length, 1);
    expect([...slab.subarray(bodyAt, bodyAt + ANSWER.body.length)]).toEqual([...ANSWER.body]);
    expect([
      count(CacheHead.LOCK_WORD),
      count(CacheHead.ENTRIES_WORD),
      count(CacheHead.INSERTIONS_WORD),
    ]).toEqual([0, 1, 1]);
  });

  test.each([
    ['a CNAME', 'a.test 60 CNAME b.test', CacheMarks.HAS_TARGETS],
    ['a private address', 'a.test 60 A 192.168.0.1', CacheMarks.HAS_PRIVATE_ADDRESS],
    ['neither', 'a.test 60 A 192.0.2.1', 0],
  ])('sets the flags of an answer with %s', (_, records, marks) => {
    const { memory, writer } = open();
    writer.store(keyOf('a.test'), textAnswer(records), NOTES);
    expect(memory.slab[CacheEntry.MARKS]).toBe(marks);
    expect(memory.slab[CacheEntry.EXTENDED_ERROR]).toBe(0);
  });

  test('accepts the largest body that fits, and nothing larger', () => {
    const { writer } = open();
    expect(writer.store(keyOf('a.test'), sized(CACHE_MAX_BODY), NOTES)).toBe(true);
    expect(writer.store(keyOf('a.test'), sized(CACHE_MAX_BODY + 1), NOTES)).toBe(false);
  });

  test('returns false while another worker holds the lock, and does not take the lock', () => {
    const { memory, writer, count } = open();
    memory.head[CacheHead.LOCK_WORD] = 1;
    expect(writer.store(keyOf('a.test'), ANSWER, NOTES)).toBe(false);
    expect([count(CacheHead.LOCK_WORD), count(CacheHead.INSERTIONS_WORD)]).toEqual([1, 0]);
  });

  test('writes while holding the lock in the name of its worker', () => {
    const { memory, writer, count } = open();
    const holders: (number | undefined)[] = [];
    const key = keyOf('a.test');
    const watched = Object.defineProperty({ ...key }, 'qname', {
      get: () => {
        holders.push(memory.head[CacheHead.LOCK_WORD]);
        return key.qname;
      },
    });
    expect(writer.store(watched, ANSWER, NOTES)).toBe(true);
    expect([...new Set(holders)]).toEqual([5]);
    expect(count(CacheHead.LOCK_WORD)).toBe(0);
  });

  test.each([
    ['the same key', {}, 1],
    ['another class', { qclass: 3 }, 2],
    ['another partition', { partition: 256 }, 2],
  ])('stores one entry for each distinct key: %s', (_, rest, entries) => {
    const { memory, writer, count } = open();
    writer.store(keyOf('a.test'), ANSWER, NOTES);
    writer.store(keyOf('a.test', rest), ANSWER, NOTES);
    expect(count(CacheHead.ENTRIES_WORD)).toBe(entries);
    expect(referencesIn(memory)).toHaveLength(entries);
  });

  test('stores separate entries for names with the same hash', () => {
    const { memory, writer } = open();
    writer.store(keyOf('a.test'), ANSWER, NOTES);
    writer.store(keyOf('b.test'), ANSWER, NOTES);
    expect(referencesIn(memory)).toHaveLength(2);
  });

  test('replaces an entry of a full bucket that was not read recently', () => {
    const { memory, writer, count } = open();
    for (let i = 0; i < CacheBucket.SLOTS; i++) writer.store(keyOf(`n${i}.test`), ANSWER, NOTES);
    const before = referencesIn(memory);
    const bucket = (keyHashLow(7, 1, 0) & memory.bucketMask) << CacheBucket.SHIFT;
    // All slots except slot 2 were read.
    memory.index[bucket + CacheBucket.USED_AT] = 0b111_1011;
    writer.store(keyOf('new.test'), ANSWER, NOTES);
    const after = referencesIn(memory);
    expect(after.filter((reference, slot) => reference !== before[slot])).toEqual([after[2]]);
    expect([count(CacheHead.EVICTIONS_WORD), count(CacheHead.ENTRIES_WORD)]).toEqual([1, CacheBucket.SLOTS]);
  });

  test('starts a new segment and ends the old one if an entry does not fit', () => {
    const { memory, writer, count } = open();
    const bytes = CACHE_MAX_BODY;
    for (let i = 0; i < 4; i++) writer.store(keyOf(`n${i}.test`), sized(bytes), NOTES);
    const units = memory.slabWords[0]!;
    expect(units * CACHE_UNIT).toBeGreaterThan(bytes);
    expect(count(CacheHead.HEAD_WORD)).toBe(CACHE_SEGMENT_UNITS + units);
    expect(memory.slabWords[(3 * units * CACHE_UNIT) / 4]).toBe(0);
  });

  test('fills a segment up to its last unit before it starts a new one', () => {
    const { memory, writer, count } = open();
    const body = sized(CACHE_SEGMENT_UNITS * (CACHE_UNIT / 4) - bodyOffset(wireName('n0.test').length, 0));
    for (let i = 0; i < 4; i++) writer.store(keyOf(`n${i}.test`), body, NOTES);
    expect(memory.slabWords[0]).toBe(CACHE_SEGMENT_UNITS / 4);
    expect(count(CacheHead.HEAD_WORD)).toBe(CACHE_SEGMENT_UNITS);
    writer.store(keyOf('n4.test'), ANSWER, NOTES);
    expect(referencesIn(memory)).toContain(CACHE_SEGMENT_UNITS + 1);
    expect(referencesIn(memory)).toHaveLength(5);
  });

  test('evicts the oldest segment when the memory is full, and moves recently used entries to the new one', () => {
    const { memory, writer, count } = open();
    const segments = memory.slabUnits / CACHE_SEGMENT_UNITS;
    const store = (i: number): boolean =>
      writer.store(keyOf(`n${i}.test`, { nameLow: i * 64 + 1 }), sized(CACHE_MAX_BODY), NOTES);
    for (let i = 0; i < segments * 3; i++) store(i);
    expect(count(CacheHead.EVICTIONS_WORD)).toBe(0);
    const bucketOf = (i: number): number =>
      (keyHashLow(i * 64 + 1, 1, 0) & memory.bucketMask) << CacheBucket.SHIFT;
    // The second entry of the oldest segment was read; free slots are used in descending order, from the last slot.
    memory.index[bucketOf(1) + CacheBucket.USED_AT] = 0x7f;
    store(100);
    expect([count(CacheHead.TAIL_WORD), count(CacheHead.COMPACTIONS_WORD)]).toEqual([CACHE_SEGMENT_UNITS, 1]);
    expect(count(CacheHead.EVICTIONS_WORD)).toBe(2);
    const movedTo = memory.slabUnits + 1;
    const slots = memory.index.subarray(
      bucketOf(1) + CacheBucket.REFERENCE_AT,
      bucketOf(1) + CacheBucket.USED_AT,
    );
    expect([...slots]).toContain(movedTo);
    // The moved entry must be read again to be kept once more.
    expect(memory.index[bucketOf(1) + CacheBucket.USED_AT]! & 0x40).toBe(0);
  });
});
