/**
 * A reader or writer of the stress test of the answer cache. Each stored answer is generated from a key and a number,
 * which its bytes contain. A reader generates the answer again and compares everything. This detects answers that are
 * mixed from several answers or belong to another key.
 */
import type { DnssecStatusCode } from '../../../shared/query-log.ts';
import { parentPort, workerData } from 'node:worker_threads';
import { AnswerCache, CacheHit } from '../../../dns-worker/cache/answer-cache.ts';
import { CacheMemory } from '../../../shared/memory/cache-memory.ts';
import { CacheWriter } from '../../../dns-worker/cache/cache-writer.ts';
import { parseQuery } from '../../../dns-worker/query/parse-query.ts';
import { Query } from '../../../dns-worker/query/query.ts';
import type { CacheableAnswer } from '../../../dns-worker/resolve/response/response-reader.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { Protocol } from '../../../shared/query-log.ts';

/** Indexes of i32 words in the memory in which the threads count. */
export const StressCount = { STOP: 0, HITS: 1, MISSES: 2, STORED: 3, REFUSED: 4, WORDS: 8 } as const;

export interface StressStart {
  readonly role: 'reader' | 'writer';
  /** Worker number of the writer, which owns the lock. */
  readonly worker: number;
  readonly seed: number;
  readonly cache: SharedArrayBuffer;
  readonly counts: SharedArrayBuffer;
}

/** Number of names. Their answers far exceed the smallest cache. */
const KEYS = 3000;
/** Half of the questions are about only these names, so that the cache has to move entries that are in use. */
const POPULAR = 30;
const STORED_AT_SECS = 1_800_000_000;
const LIFE_SECS = 100_000;
const TTL_SECS = 1000;
/** Readers read answers of different ages. */
const MAX_AGE_SECS = 500;
/** Words at the start of a body: key, number, length. */
const HEAD_SIZE = 12;
const MAX_TTLS = 6;
const USUAL_SIZE = 3000;
const MAX_SIZE = 16_000;
const SLOT_SIZE = 20_000;
/** A writer kills itself after this many stores, on average. */
const STORES_PER_DEATH = 5000;

function mix(a: number, b: number): number {
  let mixed = Math.imul(a ^ 0x9e37_79b9, 0x85eb_ca6b) ^ Math.imul(b + 0x7f4a_7c15, 0xc2b2_ae35);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x2c1b_3c6d);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}

/** Properties derived from key and number, except the bytes. */
function shapeOf(key: number, number: number) {
  const random = mix(key, number);
  const ttlCount = (random >>> 8) % (MAX_TTLS + 1);
  const range = random % 64 === 0 ? MAX_SIZE : USUAL_SIZE;
  return {
    random,
    ttlCount,
    size: HEAD_SIZE + ttlCount * 4 + ((random >>> 12) % range),
    rcode: random % 6,
    answerCount: (random >>> 3) % 50,
    authorityCount: (random >>> 5) % 50,
    dnssec: (number & 3) as DnssecStatusCode,
    upstream: number & 0x7fff,
  };
}

/** The word at byte `at`, which is a multiple of 4 and follows the TTLs. The word differs between answers. */
function wordAt(random: number, at: number): number {
  return Math.imul(random + at, 0x9e37_79b1) | 0;
}

/** The only valid answer for this key and number. */
function makeAnswer(key: number, number: number): CacheableAnswer {
  const { random, ttlCount, size, rcode, answerCount, authorityCount } = shapeOf(key, number);
  const body = new Uint8Array(size);
  const view = new DataView(body.buffer);
  view.setUint32(0, key);
  view.setUint32(4, number);
  view.setUint32(8, size);
  const firstWord = HEAD_SIZE + ttlCount * 4;
  for (let at = HEAD_SIZE; at < firstWord; at += 4) view.setUint32(at, TTL_SECS + at);
  for (let at = firstWord; at + 4 <= size; at += 4) view.setInt32(at, wordAt(random, at));
  return {
    rcode,
    authenticated: false,
    answerCount,
    authorityCount,
    body,
    ttlOffsets: Uint16Array.from({ length: ttlCount }, (_, index) => HEAD_SIZE + index * 4),
    minTtlSecs: TTL_SECS,
    negative: false,
    answersLength: size >>> 1,
    ecsScope: 0,
  };
}

/** Prepares the query of each key once, because a running thread looks up the same keys repeatedly. */
function openQuestions(): (key: number) => Query {
  const query = new Query();
  const slot = new Uint8Array(SLOT_SIZE);
  query.protocol = Protocol.tcp;
  const messages = Array.from({ length: KEYS }, (_, key) => {
    // The names have different lengths, so that bodies start at different offsets within a unit of the cache.
    const name = nameFromText(`${'n'.repeat(key % 17)}k${String(key)}.example.com`)!;
    return Uint8Array.from([0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...name, 0, 1, 0, 1]);
  });
  return (key) => {
    const message = messages[key]!;
    slot.set(message);
    query.begin(slot, 0, message.length, SLOT_SIZE);
    parseQuery(query, 7, 8);
    return query;
  };
}

/**
 * Fault in an answer that was read; null if there is none. Must be fast, so that readers spend most of their time
 * reading.
 */
function faultOf(query: Query, key: number, ageSecs: number): string | null {
  const { view, questionEnd } = query;
  if (view.getUint32(questionEnd) !== key)
    return `the answer belongs to key ${String(view.getUint32(questionEnd))}`;
  const number = view.getUint32(questionEnd + 4);
  const shape = shapeOf(key, number);
  const { size, random } = shape;
  if (view.getUint32(questionEnd + 8) !== size || query.replyLength !== questionEnd + size)
    return `${String(query.replyLength - questionEnd)} bytes instead of ${String(size)}`;
  const firstWord = HEAD_SIZE + shape.ttlCount * 4;
  for (let at = HEAD_SIZE; at < firstWord; at += 4)
    if (view.getUint32(questionEnd + at) !== TTL_SECS + at - ageSecs)
      return `the TTL at ${String(at)} is wrong`;
  for (let at = firstWord; at + 4 <= size; at += 4)
    if (view.getInt32(questionEnd + at) !== wordAt(random, at))
      return `byte ${String(at)} of ${String(size)} is wrong`;
  const same =
    query.rcode === shape.rcode &&
    query.answersCount === shape.answerCount &&
    query.authorityCount === shape.authorityCount &&
    query.answersLength === size >>> 1 &&
    query.dnssec === shape.dnssec &&
    query.upstream === shape.upstream;
  return same ? null : `a field is wrong: ${JSON.stringify(shape)}`;
}

/**
 * An answer that ends the writing thread at the `access`-th access to the body: in the middle of a write, with the lock
 * held.
 */
function deadly(answer: CacheableAnswer, access: number): CacheableAnswer {
  let looks = 0;
  return {
    ...answer,
    get body(): Uint8Array {
      if (++looks === access) {
        (process.exit as (code: number) => void)(0);
        // The thread ends some time after this call, not immediately.
        for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
      }
      return answer.body;
    },
  };
}

function run(start: StressStart): void {
  const memory = new CacheMemory(start.cache);
  const counts = new Int32Array(start.counts);
  const ask = openQuestions();
  const reader = new AnswerCache(memory);
  const writer = new CacheWriter(memory, start.worker);
  for (let turn = 1; Atomics.load(counts, StressCount.STOP) === 0; turn++) {
    const random = mix(start.seed, turn);
    const key = (random & 1) === 0 ? (random >>> 1) % POPULAR : (random >>> 1) % KEYS;
    const query = ask(key);
    if (start.role === 'writer') {
      const number = mix(turn, start.seed);
      const answer = makeAnswer(key, number);
      const dies = number % STORES_PER_DEATH === 0 && turn > STORES_PER_DEATH / 2;
      const stored = write(writer, query, dies ? deadly(answer, 2 + ((number >>> 16) % 3)) : answer, number);
      Atomics.add(counts, stored ? StressCount.STORED : StressCount.REFUSED, 1);
      continue;
    }
    const ageSecs = (random >>> 8) % MAX_AGE_SECS;
    const hit = reader.answer(query, 0, STORED_AT_SECS + ageSecs, false) === CacheHit.FRESH;
    Atomics.add(counts, hit ? StressCount.HITS : StressCount.MISSES, 1);
    const fault = hit ? faultOf(query, key, ageSecs) : null;
    if (fault !== null) parentPort!.postMessage(`key ${String(key)}: ${fault}`);
  }
}

function write(writer: CacheWriter, query: Query, answer: CacheableAnswer, number: number): boolean {
  return writer.store(
    {
      qname: query.qname.slice(0, query.qnameLength),
      nameLow: query.hashLow[0]!,
      nameHigh: query.hashHigh[0]!,
      qtype: query.qtype,
      qclass: query.qclass,
      dnssecOk: false,
      checkingDisabled: false,
      partition: 0,
    },
    answer,
    {
      storedAtSecs: STORED_AT_SECS,
      expiresAtSecs: STORED_AT_SECS + LIFE_SECS,
      staleUntilSecs: STORED_AT_SECS + LIFE_SECS,
      dnssec: (number & 3) as DnssecStatusCode,
      upstream: number & 0x7fff,
    },
  );
}

// The test imports this file into the main thread, which must not run the next line.
if (parentPort !== null && workerData !== null) run(workerData as StressStart);
