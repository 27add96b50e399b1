import { describe, expect, test } from '@jest/globals';
import { createAnswerCache } from '../../shared/memory/answer-cache-layout.ts';
import { CacheMemory } from '../../shared/memory/cache-memory.ts';
import { COUNTERS_BYTES } from '../../shared/memory/answer-counters.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { QueryStatus, logRingBytes } from '../../shared/query-log.ts';
import { a, question, response } from '../../test/support/dns/built-messages.ts';
import { replyIn, slotQuery } from '../../test/support/parts/slot-query.ts';
import { openLists } from '../../test/support/parts/test-lists.ts';
import { AnswerCache } from '../cache/answer-cache.ts';
import { CacheWriter } from '../cache/cache-writer.ts';
import { type Query, StageResult } from '../query/query.ts';
import { Reporter } from '../report/reporter.ts';
import { readResponse } from '../resolve/response/response-reader.ts';
import { cachedAnswerStage } from './cached-answer.ts';

const SNAPSHOT = openLists([]);
const NOW_SECS = 1000;
const PARTITION = 3;

/** A cache with www.example.org A, until second 1300, in one partition. */
function cacheWithAnswer(): AnswerCache {
  const memory = new CacheMemory(createAnswerCache(1 << 20));
  const asked = question('www.example.org', 'A');
  const read = readResponse(response(asked, { answers: [a('www.example.org', '192.0.2.7')] }), asked);
  if (read.kind !== 'answer') throw new Error(`read answer: ${read.kind}`);
  const { hashLow, hashHigh } = slotQuery(SNAPSHOT, 'www.example.org');
  const key = { qname: asked.qname, nameLow: hashLow[0]!, nameHigh: hashHigh[0]! };
  new CacheWriter(memory, 0).store(
    { ...key, qtype: 1, qclass: 1, dnssecOk: false, checkingDisabled: false, partition: PARTITION },
    read.answer,
    { storedAtSecs: NOW_SECS, expiresAtSecs: 1300, staleUntilSecs: 9000, dnssec: 0, upstream: 1 },
  );
  return new AnswerCache(memory);
}

/** Runs the stage: its result, the query, and the counters of hits and misses. */
function asked(facts: Partial<Query>, name = 'www.example.org'): [number, Query, number[]] {
  const memory = new SharedArrayBuffer(COUNTERS_BYTES);
  const reporter = new Reporter(memory, new SharedArrayBuffer(logRingBytes(64)));
  const slot = slotQuery(SNAPSHOT, name);
  Object.assign(slot, { partition: PARTITION, arrivedMonotonicSecs: NOW_SECS + 100 }, facts);
  const result = cachedAnswerStage(slot, cacheWithAnswer(), reporter);
  const counters = new Float64Array(memory);
  return [result, slot, [counters[Counter.CACHE_HITS]!, counters[Counter.CACHE_MISSES]!]];
}

describe('cachedAnswerStage, the answer from the cache,', () => {
  test('answers from the cache with the remaining TTL, and counts a hit', () => {
    const [result, slot, counters] = asked({});
    expect([result, slot.status, counters]).toEqual([StageResult.ANSWERED, QueryStatus.CACHED, [1, 0]]);
    expect(replyIn(slot).answers).toMatchObject([{ data: '192.0.2.7', ttl: 200 }]);
  });

  test.each([
    ['another name', {}, 'example.org'],
    ['another partition', { partition: PARTITION + 1 }, undefined],
    ['an answer whose life is over', { arrivedMonotonicSecs: 1300 }, undefined],
    ['a question with a subnet', { ecsLength: 7 }, undefined],
  ] as const)('does not answer a query with %s, and counts a miss', (_what, facts, name) => {
    const [result, slot, counters] = asked(facts, name);
    expect([result, slot.status, counters]).toEqual([StageResult.UNRESOLVED, 0, [0, 1]]);
  });

  test('answers a query with an ECS prefix length of 0, and needs no reporter', () => {
    const slot = slotQuery(SNAPSHOT, 'www.example.org');
    Object.assign(slot, { partition: PARTITION, arrivedMonotonicSecs: NOW_SECS, ecsLength: 4 });
    expect(cachedAnswerStage(slot, cacheWithAnswer(), null)).toBe(StageResult.ANSWERED);
  });
});
