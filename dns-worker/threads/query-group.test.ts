import { describe, expect, test } from '@jest/globals';
import { createAnswerCache } from '../../shared/memory/answer-cache-layout.ts';
import { CacheMemory } from '../../shared/memory/cache-memory.ts';
import { CLIENT_SIGHTINGS_BYTES } from '../../shared/memory/sighting-layout.ts';
import { COUNTERS_BYTES } from '../../shared/memory/answer-counters.ts';
import { logRingBytes } from '../../shared/query-log.ts';
import { createRateBuckets } from '../../shared/memory/rate-buckets.ts';
import { query as messageOf } from '../../test/support/dns/dns-message.ts';
import { a, question, response } from '../../test/support/dns/built-messages.ts';
import { openLists, queryFor } from '../../test/support/parts/test-lists.ts';
import { rateLimitOf } from '../../test/support/parts/test-rate-limit.ts';
import { cookiesAt } from '../../test/support/parts/cookies-of-tests.ts';
import { type Datagrams, GROUP_SIZE, QueryGroup } from './query-group.ts';
import { AnswerCache } from '../cache/answer-cache.ts';
import { CacheWriter } from '../cache/cache-writer.ts';
import { ClientSightings } from '../report/sighting-writer.ts';
import { Pipeline } from '../pipeline.ts';
import { ArrivalClock } from '../query/arrival-clock.ts';
import { Query } from '../query/query.ts';
import { RateLimiter } from '../policy/rate-limiter.ts';
import { Reporter } from '../report/reporter.ts';
import { readResponse } from '../resolve/response/response-reader.ts';

const SLOT_SIZE = 2048;
const SLOTS = 64;
const NOW_SECS = 1_800_000_000;
const KEPT = Array.from({ length: 20 }, (_, n) => `n${n}.example.org`);

/** A pipeline that blocks a name and has cached answers, and the memory of the cache. */
function makeThread(): { pipeline: Pipeline; kept: SharedArrayBuffer } {
  const kept = createAnswerCache(1 << 20);
  const memory = new CacheMemory(kept);
  const lists = [{ text: 'blocked.example.org\n', reading: { kind: 'block', subdomains: false } as const }];
  const snapshot = openLists(lists);
  const pipeline = new Pipeline(snapshot, {
    cache: new AnswerCache(memory),
    reporter: new Reporter(new SharedArrayBuffer(COUNTERS_BYTES), new SharedArrayBuffer(logRingBytes(256))),
    sightings: new ClientSightings(new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES)),
    limiter: new RateLimiter(createRateBuckets(false, 0), rateLimitOf({ enabled: false })),
    cookies: cookiesAt(NOW_SECS),
    forwardsEcs: false,
  });
  const writer = new CacheWriter(memory, 0);
  for (const [n, name] of KEPT.entries()) {
    const asked = question(name, 1);
    const read = readResponse(response(asked, { answers: [a(name, `198.51.100.${n}`)] }), asked);
    if (read.kind !== 'answer') throw new Error(`read answer for ${name}: ${read.kind}`);
    const { hashLow, hashHigh } = queryFor(name, snapshot);
    writer.store(
      {
        qname: asked.qname,
        nameLow: hashLow[0]!,
        nameHigh: hashHigh[0]!,
        qtype: 1,
        qclass: 1,
        dnssecOk: false,
        checkingDisabled: false,
        partition: 0,
      },
      read.answer,
      {
        storedAtSecs: NOW_SECS,
        expiresAtSecs: NOW_SECS + 300,
        staleUntilSecs: NOW_SECS + 300,
        dnssec: 0,
        upstream: 1,
      },
    );
  }
  return { pipeline, kept };
}

/** Datagrams in their slots after one receive. */
function batchOf(messages: readonly Uint8Array[]): Datagrams {
  const slots = new Uint8Array(SLOTS * SLOT_SIZE);
  messages.forEach((message, slot) => slots.set(message, slot * SLOT_SIZE));
  return { slots, clients: new Uint8Array(SLOTS * 16), lengthOf: (slot) => messages[slot]!.length };
}

/** Result and reply of the pipeline for each message, one after another. */
function answersOneByOne(pipeline: Pipeline, messages: readonly Uint8Array[]): string[] {
  const batch = batchOf(messages);
  const query = new Query();
  query.arrivedMonotonicSecs = NOW_SECS;
  return messages.map((message, slot) => {
    query.begin(batch.slots, slot * SLOT_SIZE, message.length, SLOT_SIZE);
    return shown(query, pipeline.run(query));
  });
}

/** The answers when queries are processed in groups. */
function answersInGroups(pipeline: Pipeline, messages: readonly Uint8Array[]): string[] {
  const batch = batchOf(messages);
  const group = new QueryGroup(batch, SLOT_SIZE);
  for (const query of group.queries) query.arrivedMonotonicSecs = NOW_SECS;
  const answers: string[] = [];
  while (answers.length < messages.length) {
    const size = group.read(batch, answers.length, messages.length, pipeline);
    for (let i = 0; i < size; i++)
      answers.push(shown(group.queries[i]!, pipeline.runRead(group.queries[i]!, group.outcomes[i]!)));
  }
  return answers;
}

function shown(query: Query, result: number): string {
  const reply = query.bytes.subarray(query.at, query.at + query.replyLength);
  return `${result} ${Buffer.from(reply).toString('hex')}`;
}

const whole = messageOf('n1.example.org', 'A');
const READABLE = [
  ...KEPT.map((name, n) => messageOf(name.toUpperCase(), 'A', n % 2 === 0 ? { edns: {} } : {})),
  messageOf('blocked.example.org', 'A'),
  messageOf('unknown.example.net', 'AAAA'),
  messageOf('.', 'NS'),
];
const UNREADABLE = [
  new Uint8Array(0),
  whole.subarray(0, 11),
  whole.subarray(0, whole.length - 1),
  Uint8Array.from(whole, (byte, at) => (at === 2 ? byte | 0x80 : byte)),
  new Uint8Array(SLOT_SIZE).fill(0xff),
];

describe('QueryGroup, which prefetches the cache lines of a batch of queries,', () => {
  test('read() changes no answer, for any content of the slots', () => {
    const messages = [...UNREADABLE, ...READABLE, ...UNREADABLE];
    const oneByOne = answersOneByOne(makeThread().pipeline, messages);
    expect(answersInGroups(makeThread().pipeline, messages)).toEqual(oneByOne);
    expect(new Set(oneByOne).size).toBeGreaterThan(READABLE.length);
  });

  test('read() writes neither to the slots nor to the cache', () => {
    const { pipeline, kept } = makeThread();
    const batch = batchOf(READABLE);
    const before = [Buffer.from(batch.slots), Buffer.from(new Uint8Array(kept))];
    const group = new QueryGroup(batch, SLOT_SIZE);
    for (let first = 0; first < READABLE.length; first += GROUP_SIZE)
      group.read(batch, first, READABLE.length, pipeline);
    expect(Buffer.compare(before[0]!, batch.slots)).toBe(0);
    expect(Buffer.compare(before[1]!, new Uint8Array(kept))).toBe(0);
  });

  test('read() prefetches the cache lines of cached names, and nothing for other names', () => {
    const { pipeline } = makeThread();
    const touched = (name: string): number => {
      const batch = batchOf([whole.subarray(0, 5), new Uint8Array(0), messageOf(name, 'A')]);
      const group = new QueryGroup(batch, SLOT_SIZE);
      expect(group.read(batch, 0, 3, pipeline)).toBe(3);
      return group.touched;
    };
    expect(touched('unknown.example.net')).toBe(0);
    for (const name of KEPT) expect(touched(name)).not.toBe(0);
  });

  test('read() prefetches nothing for fewer than three queries', () => {
    const { pipeline } = makeThread();
    const batch = batchOf(READABLE);
    const group = new QueryGroup(batch, SLOT_SIZE);
    expect(group.read(batch, 0, 2, pipeline)).toBe(2);
    expect(group.touched).toBe(0);
    expect(group.read(batch, 0, 3, pipeline)).toBe(3);
    expect(group.touched).not.toBe(0);
  });

  test('read() records the address of each slot, and reads no further slot', () => {
    const { pipeline } = makeThread();
    const batch = batchOf(READABLE);
    const group = new QueryGroup(batch, SLOT_SIZE);
    expect(group.read(batch, 8, 11, pipeline)).toBe(3);
    expect(group.queries.slice(0, 3).map(({ clientAt, at }) => [clientAt, at])).toEqual(
      [8, 9, 10].map((slot) => [slot * 16, slot * SLOT_SIZE]),
    );
    expect(group.queries.every(({ clientBytes }) => clientBytes === batch.clients)).toBe(true);
  });

  test('stamp() sets the same receive time for all queries of a batch', () => {
    const group = new QueryGroup(batchOf([]), SLOT_SIZE);
    const nowMs = group.stamp(new ArrivalClock(), 5);
    const [first, ...others] = group.queries.map((query) => [
      query.arrivedMonotonicMs,
      query.arrivedMonotonicSecs,
      query.arrivedMs,
      query.arrivedSecs,
    ]);
    expect(first).toEqual([nowMs, Math.floor(nowMs / 1000), first![2], Math.floor(first![2]! / 1000)]);
    expect(others).toEqual([...Array<unknown>(4).fill(first), ...Array<unknown>(3).fill([0, 0, 0, 0])]);
    group.stamp(new ArrivalClock(), 64);
    expect(new Set(group.queries.map(({ arrivedMonotonicMs }) => arrivedMonotonicMs)).size).toBe(1);
  });
});
