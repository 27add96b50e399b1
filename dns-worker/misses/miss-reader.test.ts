import { beforeEach, describe, expect, test } from '@jest/globals';
import { createRateBuckets } from '../../shared/memory/rate-buckets.ts';
import { COOKIE_SIZE } from '../../shared/dns/wire.ts';
import { LimitReason } from '../../shared/memory/answer-counters.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { MISS_RING_BYTES, MissRing } from '../../shared/memory/miss-ring.ts';
import { addressFromText, addressToText } from '../../shared/net/ip.ts';
import { Protocol } from '../../shared/query-log.ts';
import { WorkerControl } from '../../shared/threads/messages.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { TestClock } from '../../test/support/parts/test-clock.ts';
import { rateLimitOf } from '../../test/support/parts/test-rate-limit.ts';
import { until, within } from '../../test/support/parts/until.ts';
import type { UdpBatch } from '../listeners/udp-batch.ts';
import { ClientNetworks } from '../policy/client-networks.ts';
import { Query } from '../query/query.ts';
import { ThreadGuard } from '../report/thread-guard.ts';
import { type Miss, MissReader } from './miss-reader.ts';
import { MissWriter } from './miss-writer.ts';

const networks = new ClientNetworks(createRateBuckets(false, 42), rateLimitOf({ enabled: false }));
/** Replaces the origin of datagrams, which the kernel would report. */
const nowhere = { socketIndex: 3, copyOrigin: () => undefined } as unknown as UdpBatch;

let ring: SharedArrayBuffer;
let control: Int32Array;
let bugs: number[];
let logger: MemoryLogger;
let reader: MissReader;
let writer: MissWriter;
beforeEach(() => {
  ring = new SharedArrayBuffer(MISS_RING_BYTES);
  control = new Int32Array(new SharedArrayBuffer(WorkerControl.BYTES));
  bugs = [];
  logger = new MemoryLogger();
  const guard = new ThreadGuard({ count: (counter) => bugs.push(counter) }, new TestClock(), logger);
  reader = new MissReader(ring, control, guard);
  writer = new MissWriter(ring, control, networks);
});

/** A query whose message is a question of `length` different bytes. */
function queryOf(length: number, facts: Partial<Query> = {}): Query {
  const query = new Query();
  query.begin(
    Uint8Array.from({ length: 600 }, (_, at) => at),
    8,
    length,
    500,
  );
  query.clientBytes = addressFromText('192.0.2.1')!;
  query.protocol = Protocol.udp;
  query.questionEnd = length;
  return Object.assign(query, facts);
}

/** Writes these queries, and returns the misses that are read. */
async function readAll(...queries: Query[]): Promise<Miss[]> {
  for (const query of queries) writer.write(query, nowhere, 0, 77);
  writer.publish();
  reader.stop();
  const misses: Miss[] = [];
  await reader.run((miss) => misses.push(miss));
  return misses;
}

describe('MissReader.run(), which reads cache misses from a ring,', () => {
  test('reads a query as it was written', async () => {
    const query = queryOf(30, {
      arrivedMs: 1_800_000_000_000.5,
      arrivedMonotonicMs: 12.25,
      hasEdns: true,
      udpSize: 1232,
      dnssecOk: true,
      hasValidCookie: true,
    });
    query.setEcs(Uint8Array.of(0, 1, 24, 0, 192, 0, 2), 0, 7);
    query.setCookie(new Uint8Array(COOKIE_SIZE).fill(9));
    const [miss] = await readAll(query);
    expect(miss).toMatchObject({
      message: Uint8Array.from({ length: 30 }, (_, at) => at + 8),
      arrivedMs: 1_800_000_000_000.5,
      arrivedMonotonicMs: 12.25,
      udpSize: 1232,
      dnssecOk: true,
      ecs: Uint8Array.of(0, 1, 24, 0, 192, 0, 2),
      cookie: new Uint8Array(COOKIE_SIZE).fill(9),
      hasValidCookie: true,
      isRefresh: false,
      isRateLimited: false,
      passedVersion: 77,
      origin: { socket: 3 },
    });
    expect(addressToText(miss!.client)).toBe('192.0.2.1');
  });

  test('distinguishes queries without EDNS, ECS and cookie, and their flags', async () => {
    const [plain, limited, refresh] = await readAll(
      queryOf(20),
      queryOf(20, { limitedBy: LimitReason.QUESTIONS }),
      queryOf(20, { wantsRefresh: true }),
    );
    expect(plain).toMatchObject({
      udpSize: 0,
      dnssecOk: false,
      ecs: null,
      cookie: null,
      hasValidCookie: false,
    });
    expect([limited!.isRateLimited, limited!.isRefresh]).toEqual([true, false]);
    expect([refresh!.isRateLimited, refresh!.isRefresh]).toEqual([false, true]);
  });

  test('returns copies that later writes to the ring do not change', async () => {
    const [miss] = await readAll(queryOf(20));
    new Uint8Array(ring).fill(0);
    expect(miss!.message[0]).toBe(8);
  });

  test('sleeps while the ring is empty, and is woken by a published record', async () => {
    const misses: Miss[] = [];
    const run = reader.run((miss) => misses.push(miss));
    for (const expected of [1, 2]) {
      await until(
        'the reader to sleep',
        () => control[WorkerControl.RESOLVE_ASLEEP_WORD],
        (now) => now === 1,
      );
      expect(misses).toHaveLength(expected - 1);
      writer.write(queryOf(20), nowhere, 0, 1);
      writer.publish();
      await until(
        'the miss',
        () => misses.length,
        (count) => count === expected,
      );
    }
    reader.stop();
    await within('the reader to stop', run);
  });

  test('lets the event loop handle other events between portions', async () => {
    for (let i = 0; i < 300; i++) writer.write(queryOf(20), nowhere, 0, 1);
    writer.publish();
    reader.stop();
    const turns: number[] = [];
    let turn = 0;
    const timer = setInterval(() => undefined, 1000);
    const tick = (): void => {
      turn++;
      if (turns.length < 300) setImmediate(tick);
    };
    setImmediate(tick);
    await reader.run(() => turns.push(turn));
    clearInterval(timer);
    expect(turns).toHaveLength(300);
    expect(new Set(turns).size).toBeGreaterThan(1);
  });

  test('continues with the records after a record that could not be processed', async () => {
    Atomics.store(new Int32Array(ring), MissRing.HEAD_WORD, 300);
    reader.stop();
    let taken = 0;
    await reader.run(() => {
      if (taken++ % 3 === 0) throw new Error('a bug');
    });
    expect(taken).toBe(300);
    expect(bugs).toEqual(Array(100).fill(Counter.INTERNAL_ERRORS));
    expect(logger.lines).toHaveLength(1);
  });
});
