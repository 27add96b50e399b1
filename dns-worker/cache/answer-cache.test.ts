import { describe, expect, test } from '@jest/globals';
import { CacheHead, createAnswerCache, releaseCacheLock } from '../../shared/memory/answer-cache-layout.ts';
import { nameFromText } from '../../shared/dns/name.ts';
import { readU32 } from '../../shared/dns/wire.ts';
import { a, cname } from '../../test/support/dns/built-messages.ts';
import { answerWith } from '../../test/support/dns/record-bodies.ts';
import { parseQuery } from '../query/parse-query.ts';
import { Query } from '../query/query.ts';
import type { CacheableAnswer } from '../resolve/response/response-reader.ts';
import { AnswerCache, CacheHit } from './answer-cache.ts';
import { CacheMemory } from '../../shared/memory/cache-memory.ts';
import { CacheWriter } from './cache-writer.ts';

const NOW = 1_800_000_000;

/** A parsed request for `name`. */
function ask(
  name: string,
  options: { qtype?: number; dnssecOk?: boolean; checkingDisabled?: boolean } = {},
): Query {
  const wire = nameFromText(name)!;
  const bytes = new Uint8Array(2048);
  bytes.set([0x12, 0x34, 0x01, options.checkingDisabled === true ? 0x10 : 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  bytes.set(wire, 12);
  bytes.set([0, options.qtype ?? 1, 0, 1], 12 + wire.length);
  const query = new Query();
  query.begin(bytes, 0, 12 + wire.length + 4, bytes.length);
  parseQuery(query, 7, 8);
  query.dnssecOk = options.dnssecOk ?? false;
  return query;
}

/** Answer with one A record whose owner is a pointer, and `tag` in the address. */
function answerOf(tag: number, ttlSecs = 300): CacheableAnswer {
  const body = new Uint8Array(16);
  const view = new DataView(body.buffer);
  view.setUint16(0, 0xc00c);
  view.setUint16(2, 1);
  view.setUint16(4, 1);
  view.setUint32(6, ttlSecs);
  view.setUint16(10, 4);
  view.setUint32(12, tag);
  return {
    rcode: 0,
    authenticated: false,
    answerCount: 1,
    authorityCount: 0,
    body,
    ttlOffsets: Uint16Array.from([6]),
    minTtlSecs: ttlSecs,
    negative: false,
    answersLength: 16,
    ecsScope: 0,
  };
}

function open(maxBytes = 262_144): {
  memory: CacheMemory;
  reader: AnswerCache;
  writer: CacheWriter;
  buffer: SharedArrayBuffer;
} {
  const buffer = createAnswerCache(maxBytes);
  const memory = new CacheMemory(buffer);
  return { buffer, memory, reader: new AnswerCache(memory), writer: new CacheWriter(memory, 0) };
}

function keep(
  writer: CacheWriter,
  query: Query,
  answer: CacheableAnswer,
  ttlSecs = 300,
  partition = 0,
): boolean {
  return writer.store(
    {
      qname: query.qname.slice(0, query.qnameLength),
      nameLow: query.hashLow[0]!,
      nameHigh: query.hashHigh[0]!,
      qtype: query.qtype,
      qclass: query.qclass,
      dnssecOk: query.dnssecOk,
      checkingDisabled: query.checkingDisabled,
      partition,
    },
    answer,
    {
      storedAtSecs: NOW,
      expiresAtSecs: NOW + ttlSecs,
      staleUntilSecs: NOW + ttlSecs + 3600,
      dnssec: 0,
      upstream: 1,
    },
  );
}

/** The address in the reply. */
function tagIn(query: Query): number {
  return readU32(query.bytes, query.questionEnd + 12);
}

describe('AnswerCache, shared by the workers,', () => {
  test.each<[string, number, number, boolean]>([
    ['in the last tenth of a long life', 300, 270, true],
    ['before that', 300, 269, false],
    ['in the last two seconds of a short one', 6, 4, true],
    ['of a TTL that is too short for a refresh', 5, 4, false],
  ])('answer() requests a refresh of a frequently queried name %s', (_when, ttlSecs, ageSecs, expected) => {
    const { memory, writer } = open();
    const reader = new AnswerCache(memory, true);
    keep(writer, ask('www.example.com'), answerOf(1, ttlSecs), ttlSecs);
    const wants = (): boolean => {
      const query = ask('www.example.com');
      reader.answer(query, 0, NOW + ageSecs, false);
      return query.wantsRefresh;
    };
    // A name that was queried only once is not in use; one refresh is enough until the next answer is stored.
    expect([wants(), wants(), wants()]).toEqual([false, expected, false]);
    keep(writer, ask('www.example.com'), answerOf(2, ttlSecs), ttlSecs);
    expect([wants(), wants(), wants()]).toEqual([false, expected, false]);
  });

  test('answer() finds a stored answer in any letter case of the name, and counts its TTL down', () => {
    const { reader, writer } = open();
    keep(writer, ask('www.example.com'), answerOf(42));
    const query = ask('www.example.com');
    query.bytes[13] = 0x57;
    expect(reader.answer(query, 0, NOW + 100, false)).toBe(CacheHit.FRESH);
    expect(tagIn(query)).toBe(42);
    expect(readU32(query.bytes, query.questionEnd + 6)).toBe(200);
    expect(query.bytes[13]).toBe(0x57);
    expect(query.replyLength).toBe(query.questionEnd + 16);
  });

  test.each([
    ['another name', ask('xww.example.com'), 0],
    ['another type', ask('www.example.com', { qtype: 28 }), 0],
    ['the DO bit', ask('www.example.com', { dnssecOk: true }), 0],
    ['the CD bit', ask('www.example.com', { checkingDisabled: true }), 0],
    ['another partition', ask('www.example.com'), 1],
  ])('answer() distinguishes answers by %s', (_what, query, partition) => {
    const { reader, writer } = open();
    keep(writer, ask('www.example.com'), answerOf(42));
    expect(reader.answer(query, partition, NOW, false)).toBe(CacheHit.NONE);
  });

  test.each([
    ['an alias', [cname('www.example.com', 'a.example')], true, false],
    ['a private address', [a('www.example.com', '10.0.0.1')], false, true],
    ['a public address', [a('www.example.com', '192.0.2.1')], false, false],
  ])(
    'answer() reports the upstream of an answer with %s, and whether the answer has aliases or private addresses',
    (_what, records, hasTargets, isPrivate) => {
      const { reader, writer } = open();
      expect(keep(writer, ask('www.example.com'), answerWith(records))).toBe(true);
      const query = ask('www.example.com');
      expect(reader.answer(query, 0, NOW, false)).toBe(CacheHit.FRESH);
      expect(query).toMatchObject({ hasTargets, hasPrivateAddress: isPrivate, upstream: 1, answersCount: 1 });
    },
  );

  test('answer() counts the TTL down in every section', () => {
    const { reader, writer } = open();
    const [first, second] = [answerOf(1), answerOf(2)];
    const both: CacheableAnswer = {
      ...first,
      authorityCount: 1,
      body: Uint8Array.from([...first.body, ...second.body]),
      ttlOffsets: Uint16Array.from([6, 22]),
    };
    keep(writer, ask('www.example.com'), both);
    const query = ask('www.example.com');
    expect(reader.answer(query, 0, NOW + 100, false)).toBe(CacheHit.FRESH);
    const ttls = [6, 22].map((at) => readU32(query.bytes, query.questionEnd + at));
    expect(ttls).toEqual([200, 200]);
    // The additional section is not cached.
    expect([...query.bytes.subarray(6, 12)]).toEqual([0, 1, 0, 1, 0, 0]);
  });

  test("answer() never returns a larger TTL than the stored TTL, even if the reader's clock is behind", () => {
    const { reader, writer } = open();
    keep(writer, ask('www.example.com'), answerOf(42));
    const query = ask('www.example.com');
    expect(reader.answer(query, 0, NOW - 1, false)).toBe(CacheHit.FRESH);
    expect(readU32(query.bytes, query.questionEnd + 6)).toBe(300);
  });

  test('answer() returns an expired answer only if stale answers are allowed, with TTL 30, and for a limited time', () => {
    const { reader, writer } = open();
    keep(writer, ask('www.example.com'), answerOf(42));
    expect(reader.answer(ask('www.example.com'), 0, NOW + 300, false)).toBe(CacheHit.NONE);
    const stale = ask('www.example.com');
    expect(reader.answer(stale, 0, NOW + 300, true)).toBe(CacheHit.STALE);
    expect(readU32(stale.bytes, stale.questionEnd + 6)).toBe(30);
    expect(reader.answer(ask('www.example.com'), 0, NOW + 300 + 3600, true)).toBe(CacheHit.NONE);
  });

  test('store() replaces the answer of the same key', () => {
    const { reader, writer, memory } = open();
    keep(writer, ask('www.example.com'), answerOf(1));
    keep(writer, ask('www.example.com'), answerOf(2));
    const query = ask('www.example.com');
    reader.answer(query, 0, NOW, false);
    expect(tagIn(query)).toBe(2);
    expect(memory.head[CacheHead.ENTRIES_WORD]).toBe(1);
  });

  test('store() rejects an answer that is too large for the cache', () => {
    const { writer } = open();
    expect(keep(writer, ask('www.example.com'), { ...answerOf(1), body: new Uint8Array(20_000) })).toBe(
      false,
    );
  });

  test('store() evicts the oldest entries when full, keeps recently used entries, and never mixes up answers', () => {
    const { reader, writer, memory } = open();
    const popular = Array.from({ length: 50 }, (_, i) => `popular${String(i)}.example.com`);
    popular.forEach((name, i) => keep(writer, ask(name), answerOf(i)));
    for (let i = 0; i < 40_000; i++) {
      keep(writer, ask(`scan${String(i)}.example.net`), answerOf(1000 + i));
      if (i % 500 === 0) for (const name of popular) reader.answer(ask(name), 0, NOW, false);
    }
    let found = 0;
    for (const [i, name] of popular.entries()) {
      const query = ask(name);
      if (reader.answer(query, 0, NOW, false) !== CacheHit.FRESH) continue;
      found++;
      expect(tagIn(query)).toBe(i);
    }
    expect(found).toBe(popular.length);
    let scanned = 0;
    for (let i = 0; i < 40_000; i++) {
      const query = ask(`scan${String(i)}.example.net`);
      if (reader.answer(query, 0, NOW, false) !== CacheHit.FRESH) continue;
      scanned++;
      expect(tagIn(query)).toBe(1000 + i);
    }
    expect(scanned).toBe(memory.head[CacheHead.ENTRIES_WORD]! - popular.length);
    expect(scanned).toBeGreaterThan(1000);
    expect(scanned).toBeLessThan(10_000);
  });

  test('store() continues when the positions of entries wrap around', () => {
    const { reader, writer, memory } = open();
    const start = memory.positionLimit - memory.slabUnits;
    memory.head[CacheHead.HEAD_WORD] = start | 0;
    memory.head[CacheHead.TAIL_WORD] = start | 0;
    for (let i = 0; i < 9000; i++) {
      keep(writer, ask(`n${String(i)}.example.net`), answerOf(i));
      const query = ask(`n${String(i)}.example.net`);
      expect(reader.answer(query, 0, NOW, false)).toBe(CacheHit.FRESH);
      expect(tagIn(query)).toBe(i);
    }
    expect(memory.head[CacheHead.HEAD_WORD]! >>> 0).toBeLessThan(start);
  });

  test('releaseCacheLock() empties the cache only if the dead thread held the lock of the cache', () => {
    const { buffer, reader, writer, memory } = open();
    keep(writer, ask('www.example.com'), answerOf(1));
    memory.head[CacheHead.LOCK_WORD] = 1;
    releaseCacheLock(buffer, 4);
    expect(reader.answer(ask('www.example.com'), 0, NOW, false)).toBe(CacheHit.FRESH);
    releaseCacheLock(buffer, 0);
    expect(reader.answer(ask('www.example.com'), 0, NOW, false)).toBe(CacheHit.NONE);
    expect(keep(writer, ask('www.example.com'), answerOf(2))).toBe(true);
    expect(reader.answer(ask('www.example.com'), 0, NOW, false)).toBe(CacheHit.FRESH);
  });
});
