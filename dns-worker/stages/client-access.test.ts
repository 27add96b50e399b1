/** Allowed and refused clients in the pipeline: the answer, the counts, the log, and messages without a question. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { COUNTERS_BYTES } from '../../shared/memory/answer-counters.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { CacheMemory } from '../../shared/memory/cache-memory.ts';
import { createAnswerCache } from '../../shared/memory/answer-cache-layout.ts';
import { createRateBuckets } from '../../shared/memory/rate-buckets.ts';
import { CLIENT_SIGHTINGS_BYTES } from '../../shared/memory/sighting-layout.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { accessOf } from '../../shared/policy/access.ts';
import { LogMark, LogRecord, LogRing, logRingBytes, Protocol } from '../../shared/query-log.ts';
import { query as queryMessage, Reply, type QueryOptions } from '../../test/support/dns/dns-message.ts';
import { cookiesAt } from '../../test/support/parts/cookies-of-tests.ts';
import { snapshotOf } from '../../test/support/parts/test-lists.ts';
import { rateLimitOf } from '../../test/support/parts/test-rate-limit.ts';
import { AnswerCache } from '../cache/answer-cache.ts';
import { Pipeline } from '../pipeline.ts';
import { openSnapshot } from '../policy/open-snapshot.ts';
import { RateLimiter } from '../policy/rate-limiter.ts';
import { NO_IDENTITY, ServerIdentity } from '../policy/server-identity.ts';
import { Query, StageResult } from '../query/query.ts';
import { KeyedSightings } from '../report/sighting-writer.ts';
import { Reporter } from '../report/reporter.ts';

const STRANGER = '203.0.113.9';
const LONG_KEY = 'k3v9x2q7w4m1zp8';
const access = accessOf(['192.0.2.0/24'], ['192.0.2.66', 'blocked-phone-key'], []);
const keyedClients = [LONG_KEY, 'phone', 'blocked-phone-key'].map((key, index) => ({
  ...{ key, clientId: index + 1, groupId: null, name: null, mac: null },
}));

let counters: Float64Array;
let log: SharedArrayBuffer;
let sightings: SharedArrayBuffer;
let limiter: RateLimiter;
let reporter: Reporter;
let pipeline: Pipeline;
beforeEach(() => {
  const memory = new SharedArrayBuffer(COUNTERS_BYTES);
  counters = new Float64Array(memory);
  log = new SharedArrayBuffer(logRingBytes(64));
  sightings = new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES);
  limiter = new RateLimiter(createRateBuckets(false, 0), rateLimitOf({ enabled: false }));
  reporter = new Reporter(memory, log);
  pipeline = new Pipeline(openSnapshot(snapshotOf([], { keyedClients }, 1, { access })), {
    cache: new AnswerCache(new CacheMemory(createAnswerCache(0))),
    reporter,
    sightings: new KeyedSightings(sightings),
    limiter,
    cookies: cookiesAt(0),
    forwardsEcs: false,
  });
});

/** Result of the pipeline for a message; the bytes of the answer, if there is one. */
function ask(
  client: string,
  { message = queryMessage('www.example.org', 'A', { edns: {} }), key = '', isOwn = false } = {},
): { result: number; reply: Reply | null; query: Query } {
  const bytes = new Uint8Array(2048);
  bytes.set(message);
  const query = new Query();
  query.clientBytes = addressFromText(client)!;
  query.clientKey = key;
  query.protocol = key === '' ? Protocol.udp : Protocol.dot;
  query.arrivedMonotonicSecs = 100;
  query.begin(bytes, 0, message.length, bytes.length);
  query.isOwn = isOwn;
  const result = pipeline.run(query);
  const isAnswered = result === StageResult.ANSWERED;
  return { result, reply: isAnswered ? new Reply(bytes.slice(0, query.replyLength), '') : null, query };
}

const message = (options: QueryOptions): Uint8Array => queryMessage('www.example.org', 'A', options);

describe('a client that is not allowed to query', () => {
  test.each([STRANGER, '2001:db8::9', '192.0.2.66', '192.0.3.0'])('%s gets REFUSED with EDE 18', (client) => {
    const { reply, query } = ask(client);
    expect([reply!.rcode, reply!.extendedErrors]).toEqual([5, [18]]);
    expect(query.logMark).toBe(LogMark.NONE);
    expect(counters[Counter.REFUSED_CLIENTS]).toBe(1);
    expect(counters[Counter.QUERIES]).toBe(0);
    // No slot is used for a client.
    expect(new Int32Array(sightings).every((word) => word === 0)).toBe(true);
  });

  test('gets only REFUSED, even for queries whose class or EDNS version is not supported', () => {
    for (const options of [{ qclass: 3 }, { qclass: 255 }, { edns: { version: 1 } }])
      expect(ask(STRANGER, { message: message(options) }).reply!.rcode).toBe(5);
  });

  test('gets five replies per second, and only one of its queries is logged for its network', () => {
    const results = Array.from({ length: 7 }, () => ask(STRANGER).result);
    expect(results.filter((result) => result === StageResult.ANSWERED)).toHaveLength(5);
    expect(results.slice(5)).toEqual([StageResult.DROPPED, StageResult.DROPPED]);
    expect(counters[Counter.REFUSED_CLIENTS]).toBe(7);
    reporter.publish(0);
    expect(new Int32Array(log)[LogRing.HEAD_WORD]).toBe(1);
    const bytes = new Uint8Array(log, LogRing.RECORDS_BYTE);
    expect(bytes[LogRecord.MARK]).toBe(LogMark.REFUSED);
    expect(new DataView(bytes.buffer, bytes.byteOffset).getUint32(LogRecord.RULE_ATTRIBUTE, true)).toBe(1);
  });

  test('gets no reply if the node is configured to refuse silently', () => {
    pipeline.use(limiter, false, new ServerIdentity({ ...NO_IDENTITY, refusesSilently: true }));
    expect(ask(STRANGER).result).toBe(StageResult.DROPPED);
    expect(counters[Counter.REFUSED_CLIENTS]).toBe(1);
    expect(ask('192.0.2.7').result).toBe(StageResult.UNRESOLVED);
  });

  test.each([
    ['another opcode', message({ flags: 0x2800 })],
    ['two questions', message({}).fill(2, 5, 6)],
    ['nothing but a cookie', cookieRequest()],
  ])('gets no reply to %s', (_what, bytes) => {
    expect(ask(STRANGER, { message: bytes }).result).toBe(StageResult.DROPPED);
    expect(ask('192.0.2.7', { message: bytes }).result).toBe(StageResult.ANSWERED);
    expect(counters[Counter.REFUSED_CLIENTS]).toBe(1);
  });
});

describe('a client that is allowed to query', () => {
  test('may be in an allowed network or on the machine itself', () => {
    for (const client of ['192.0.2.1', '127.0.0.1', '::1'])
      expect(ask(client).result).toBe(StageResult.UNRESOLVED);
    expect(counters[Counter.REFUSED_CLIENTS]).toBe(0);
  });

  test('may be in any network if the client has a long key, unless key or network is blocked', () => {
    expect(ask(STRANGER, { key: LONG_KEY }).result).toBe(StageResult.UNRESOLVED);
    expect(ask('192.0.2.66', { key: LONG_KEY }).reply!.rcode).toBe(5);
    expect(ask(STRANGER, { key: 'phone' }).reply!.rcode).toBe(5);
    expect(ask('192.0.2.1', { key: 'phone' }).result).toBe(StageResult.UNRESOLVED);
    expect(ask('192.0.2.1', { key: 'blocked-phone-key' }).reply!.rcode).toBe(5);
    expect(ask(STRANGER, { key: 'k3v9x2q7w4m1zp9' }).reply!.rcode).toBe(5);
  });

  test('may be Weir itself, for any configuration', () => {
    expect(ask('192.0.2.66', { isOwn: true }).result).toBe(StageResult.UNRESOLVED);
  });

  test('is not refused during a query in flight when it is no longer allowed', () => {
    const { query } = ask('192.0.2.7');
    pipeline.replaceSnapshot(openSnapshot(snapshotOf([], {}, 2, { access: accessOf([], [], []) })));
    pipeline.reopen(query);
    expect(pipeline.decideAgain(query)).toBe(StageResult.CONTINUE);
    expect(ask('192.0.2.7').reply!.rcode).toBe(5);
  });

  test('is determined again after each change of the policy', () => {
    expect(ask('192.0.2.7').result).toBe(StageResult.UNRESOLVED);
    const none = accessOf([], [], []);
    pipeline.replaceSnapshot(openSnapshot(snapshotOf([], {}, 2, { access: none })));
    expect(ask('192.0.2.7').reply!.rcode).toBe(5);
    pipeline.replaceSnapshot(openSnapshot(snapshotOf([], {}, 3, { access })));
    expect(ask('192.0.2.7').result).toBe(StageResult.UNRESOLVED);
  });
});

/** OPT alone, with a client cookie (RFC 7873 section 5.4). */
function cookieRequest(): Uint8Array {
  const bytes = message({ edns: { cookie: new Uint8Array(8).fill(1) } });
  const questionEnd = 12 + 'www.example.org'.length + 2 + 4;
  const whole = Uint8Array.from([...bytes.subarray(0, 12), ...bytes.subarray(questionEnd)]);
  whole[5] = 0;
  return whole;
}
