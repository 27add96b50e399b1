// Hit ratio of an answer cache with space for a tenth of the stream's questions, and cost of a lookup, compared with a
// plain LRU cache with the same number of entries. Measured again during a scan of a million names that are each
// queried once.
import { CacheHead, createAnswerCache } from '../../../shared/memory/answer-cache-layout.ts';
import { CacheMemory } from '../../../shared/memory/cache-memory.ts';
import { rrTypeCode } from '../../../shared/dns/iana.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { AnswerCache, CacheHit } from '../../../dns-worker/cache/answer-cache.ts';
import { CacheWriter } from '../../../dns-worker/cache/cache-writer.ts';
import { parseQuery } from '../../../dns-worker/query/parse-query.ts';
import { Query } from '../../../dns-worker/query/query.ts';
import type { CacheableAnswer } from '../../../dns-worker/resolve/response/cacheable-answer.ts';
import type { Bench } from '../bench.ts';
import type { Material } from '../material/material.ts';
import { isForwarded } from '../material/question-mix.ts';
import { alignColumns } from '../report/table.ts';
import type { RowResult } from './measured-rows.ts';

/** The cache has space for one in this many of the different questions. */
const SHARE = 10;
const SCANNED = 1_000_000;
const QUICK_SCANNED = 200_000;
/** Number of passes over the stream; the last pass is measured. */
const PASSES = 2;
const NOW_SECS = 1_800_000_000;
const TTL_SECS = 300;
/** Minimum of the cache's hit ratio divided by the LRU's. */
const MIN_RATIO = 0.98;

const HEADER = [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
const NAME_AT = HEADER.length;

/** A cache to compare: looks up a question, and stores an answer on a miss. */
interface Cache {
  readonly name: string;
  isHit(query: Query): boolean;
  readonly entries: () => number;
}

interface Measured {
  cache: string;
  stream: string;
  entries: number;
  hitShare: number;
  cpuUs: number;
}

/** Runs the row. */
export function measureHitRatio(bench: Bench, material: Material): Promise<RowResult> {
  const asked = encodeStream(material);
  const capacity = Math.round(asked.different / SHARE);
  const scanned = bench.options.quick ? QUICK_SCANNED : SCANNED;
  const bytes = bytesFor(capacity, asked.messages);
  const measured = [0, scanned].flatMap((scan) => {
    const real = ask(realCache(bytes), asked.messages, scan);
    return [real, ask(leastRecentlyUsed(Math.max(capacity, real.entries)), asked.messages, scan)];
  });
  const table = alignColumns([
    ['cache', 'stream', 'entries', 'hits', 'CPU us/look-up'],
    ...measured.map(({ cache, stream, entries, hitShare, cpuUs }) => [
      cache,
      stream,
      entries.toLocaleString('en'),
      `${(hitShare * 100).toFixed(2)} %`,
      cpuUs.toFixed(2),
    ]),
  ]);
  const [plain, plainLru, scan, scanLru] = measured as [Measured, Measured, Measured, Measured];
  return Promise.resolve({
    table: `${asked.messages.length} questions, ${asked.different} different ones; ${scanned} names scanned\n\n${table}`,
    goals: [
      {
        what: 'hits of the cache / of an LRU',
        measured: plain.hitShare / plainLru.hitShare,
        unit: '',
        atLeast: MIN_RATIO,
      },
      {
        what: 'hits of the cache / of an LRU, with the scan',
        measured: scan.hitShare / scanLru.hitShare,
        unit: '',
        atLeast: 1,
      },
    ],
    figures: measured,
  });
}

/** The forwarded questions of the stream as messages; equal questions are the same object. */
function encodeStream({ stream, listed }: Material): { messages: Uint8Array[]; different: number } {
  const known = new Map<string, Uint8Array | null>();
  const messages: Uint8Array[] = [];
  for (const { name, type } of stream) {
    const key = `${name.toLowerCase()} ${type}`;
    let message = known.get(key);
    if (message === undefined) {
      message = isForwarded(name, listed) ? encode(name, rrTypeCode(type) ?? 1) : null;
      known.set(key, message);
    }
    if (message !== null) messages.push(message);
  }
  return { messages, different: new Set(messages).size };
}

function encode(name: string, qtype: number): Uint8Array | null {
  const wire = nameFromText(name);
  return wire === null ? null : Uint8Array.from([...HEADER, ...wire, 0, qtype, 0, 1]);
}

/** Runs the stream, with `scan` other names spread over each pass; counts the stream's hits in the last pass. */
function ask(cache: Cache, messages: readonly Uint8Array[], scan: number): Measured {
  const query = new Query();
  const slot = new Uint8Array(2048);
  const scanned = encode('00000000.scan.example.org', 1)!;
  const perQuestion = scan / messages.length;
  let due = 0;
  let serial = 0;
  let hits = 0;
  let cpuUs = 0;
  for (let pass = 1; pass <= PASSES; pass++) {
    hits = 0;
    let lookUps = 0;
    const before = process.cpuUsage();
    for (const message of messages) {
      for (due += perQuestion; due >= 1; due--) {
        stamp(scanned, serial++);
        cache.isHit(read(query, slot, scanned));
        lookUps++;
      }
      if (cache.isHit(read(query, slot, message))) hits++;
      lookUps++;
    }
    const spent = process.cpuUsage(before);
    cpuUs = (spent.user + spent.system) / lookUps;
  }
  const stream = scan === 0 ? 'alone' : 'with the scan';
  return { cache: cache.name, stream, entries: cache.entries(), hitShare: hits / messages.length, cpuUs };
}

function stamp(message: Uint8Array, serial: number): void {
  for (let i = 0; i < 8; i++) message[NAME_AT + 1 + i] = 0x61 + ((serial >>> (4 * i)) & 15);
}

function read(query: Query, slot: Uint8Array, message: Uint8Array): Query {
  slot.set(message);
  query.begin(slot, 0, message.length, slot.length);
  parseQuery(query, 7, 8);
  return query;
}

/** An answer with one A record whose owner is a compression pointer to the qname, as upstreams send it. */
const ANSWER: CacheableAnswer = {
  rcode: 0,
  authenticated: false,
  answerCount: 1,
  authorityCount: 0,
  body: Uint8Array.of(0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 192, 0, 2, 1),
  ttlOffsets: Uint16Array.of(6),
  minTtlSecs: TTL_SECS,
  negative: false,
  answersLength: 16,
  ecsScope: 0,
};

function realCache(bytes: number): Cache {
  const memory = new CacheMemory(createAnswerCache(bytes));
  const reader = new AnswerCache(memory);
  const writer = new CacheWriter(memory, 0);
  return {
    name: 'weir',
    entries: () => memory.head[CacheHead.ENTRIES_WORD]!,
    isHit: (query) => {
      if (reader.answer(query, 0, NOW_SECS, false) !== CacheHit.NONE) return true;
      keep(writer, query);
      return false;
    },
  };
}

function keep(writer: CacheWriter, query: Query): void {
  const expiresAtSecs = NOW_SECS + TTL_SECS;
  writer.store(
    {
      qname: query.qname.subarray(0, query.qnameLength),
      nameLow: query.hashLow[0]!,
      nameHigh: query.hashHigh[0]!,
      qtype: query.qtype,
      qclass: query.qclass,
      dnssecOk: false,
      checkingDisabled: false,
      partition: 0,
    },
    ANSWER,
    { storedAtSecs: NOW_SECS, expiresAtSecs, staleUntilSecs: expiresAtSecs, dnssec: 0, upstream: 1 },
  );
}

/** A Map in the order of use, the usual LRU cache in JavaScript; a hit also copies the answer. */
function leastRecentlyUsed(capacity: number): Cache {
  const kept = new Map<string, Uint8Array>();
  return {
    name: 'LRU',
    entries: () => kept.size,
    isHit: (query) => {
      const { qname, qnameLength, qtype } = query;
      const name = Buffer.from(qname.buffer, 0, qnameLength).toString('latin1');
      const key = name + String.fromCharCode(qtype);
      const body = kept.get(key);
      kept.delete(key);
      kept.set(key, body ?? ANSWER.body.slice());
      if (body !== undefined) query.bytes.set(body, query.questionEnd);
      else if (kept.size > capacity) kept.delete(kept.keys().next().value!);
      return body !== undefined;
    },
  };
}

/**
 * Size in bytes at which the cache holds about this many of these questions' answers, determined by filling a cache.
 */
function bytesFor(capacity: number, messages: readonly Uint8Array[]): number {
  const different = [...new Set(messages)];
  const query = new Query();
  const slot = new Uint8Array(2048);
  const entriesIn = (bytes: number): number => {
    const cache = realCache(bytes);
    for (const message of different) cache.isHit(read(query, slot, message));
    return cache.entries();
  };
  let bytes = capacity * 64;
  while (entriesIn(bytes) < capacity) bytes *= 1.05;
  return Math.round(bytes);
}
