import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type RowInWords, logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { type TestDatabase, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import { logSourceOf, storeRows } from '../../../test/support/parts/stored-log.ts';
import { Protocol, QueryStatus } from '../../../shared/query-log.ts';
import type { LogSource } from '../reading/log-source.ts';
import { readCacheUse, readListHits, readSummary, readTopClients, readTopDomains } from './stats-store.ts';

const FROM_MS = Date.UTC(2026, 6, 5, 12);
const TO_MS = FROM_MS + 3_600_000;
const client = (last: number): Uint8Array => Uint8Array.of(192, 0, 2, last);
const named = (name: string): Uint8Array => wireName(name);

/** Two cache hits, one miss, two blocked queries and a rate-limited one, and two queries outside of the period. */
const ROWS: Partial<RowInWords>[] = [
  { responseTimeUs: 10 },
  { responseTimeUs: 30, status: QueryStatus.STALE, client: client(8), answerType: 0 },
  {
    ...{ qname: named('b.example'), status: QueryStatus.ALLOWED, cached: false, responseTimeUs: 20_000 },
    upstream: 'udp://192.0.2.1:53',
  },
  {
    ...{ qname: named('ads.example'), status: QueryStatus.BLOCKED_LIST, cached: false, responseTimeUs: 50 },
    ...{ blockSource: 'ads', blockRule: 'ads.example', lists: [3, 12], qtype: 28, groupId: 7 },
  },
  {
    ...{ qname: named('ads.example'), status: QueryStatus.BLOCKED_LIST, cached: false, responseTimeUs: 50 },
    ...{ blockSource: 'ads', blockRule: 'ads.example', lists: [3], client: client(8) },
  },
  { status: QueryStatus.RATE_LIMITED, cached: false, rcode: 5, protocol: Protocol.tcp, responseTimeUs: 0 },
  { timestampMs: FROM_MS - 1, qname: named('before.example') },
  { timestampMs: TO_MS, qname: named('after.example') },
];

let own: TestDatabase;
let log: LogSource;

beforeAll(async () => {
  own = await startTestDatabase();
  log = logSourceOf(own.database);
  await storeRows(
    own.database,
    ROWS.map((row) => logRow({ timestampMs: FROM_MS, ...row })),
  );
});
afterAll(() => own.stop());

describe('readSummary()', () => {
  test('counts the rows of the period, including its start and excluding its end', async () => {
    expect(await readSummary(log, { fromMs: FROM_MS, toMs: TO_MS })).toEqual({
      queries_total: 6,
      queries_blocked: 2,
      block_rate: 33.33,
      queries_rate_limited: 1,
      queries_repeated: 0,
      queries_not_logged: 0,
      queries_not_counted: 0,
      log_cleared: [],
      clients: 2,
      unique_domains: 3,
      unique_domains_is_estimate: false,
      cache_hit_rate: 66.67,
      avg_query_time_ms: 3.357,
      avg_cache_time_ms: 0.02,
      avg_upstream_time_ms: 20,
      p50_query_time_ms: 0.032,
      p95_query_time_ms: 23.17,
      p99_query_time_ms: 23.17,
      queries_by_type: { A: 5, AAAA: 1 },
      queries_by_status: { BLOCKED_LIST: 2, CACHED: 1, STALE: 1, ALLOWED: 1, RATE_LIMITED: 1 },
      queries_by_rcode: { NOERROR: 5, REFUSED: 1 },
      queries_nodata: 1,
      queries_by_protocol: { udp: 5, tcp: 1 },
      source_stats: { ads: 2 },
    });
  });

  test('returns zeros if there are no queries', async () => {
    const summary = await readSummary(log, { fromMs: 0, toMs: 60_000 });
    expect(Object.values(summary).filter((value) => typeof value === 'number' && value !== 0)).toEqual([]);
    expect(summary.queries_by_type).toEqual({});
  });
});

describe('readCacheUse()', () => {
  test('counts queries answered from the cache, and cache misses', async () => {
    expect(await readCacheUse(log, { fromMs: FROM_MS, toMs: TO_MS })).toEqual({ hits: 2, misses: 1 });
    expect(await readCacheUse(log, { fromMs: FROM_MS, toMs: FROM_MS })).toEqual({ hits: 0, misses: 0 });
  });
});

describe('readListHits()', () => {
  test('counts for each list the queries that it blocked, and those that no other list would have blocked', async () => {
    const hits = await readListHits(log, { fromMs: FROM_MS, toMs: TO_MS });
    expect(Object.fromEntries(hits)).toEqual({ 3: { all: 2, sole: 1 }, 12: { all: 1, sole: 0 } });
    expect(await readListHits(log, { fromMs: FROM_MS, toMs: FROM_MS })).toEqual(new Map());
  });
});

describe('readTopDomains()', () => {
  const PERIOD = { fromMs: FROM_MS, toMs: TO_MS, limit: 10 };

  test('separates blocked names from names that were not blocked, most frequent first', async () => {
    expect(await readTopDomains(log, { ...PERIOD, which: 'blocked' })).toEqual([
      { domain: 'ads.example', count: 2 },
    ]);
    expect(await readTopDomains(log, { ...PERIOD, which: 'allowed' })).toEqual([
      { domain: 'www.example.org', count: 3 },
      { domain: 'b.example', count: 1 },
    ]);
    expect(await readTopDomains(log, { ...PERIOD, limit: 1, which: 'allowed' })).toHaveLength(1);
  });

  test('selects one client, a network or a group if requested', async () => {
    const blocked = (change: object) => readTopDomains(log, { ...PERIOD, ...change, which: 'blocked' });
    const one = [{ domain: 'ads.example', count: 1 }];
    expect(await blocked({ client: '192.0.2.8' })).toEqual(one);
    expect(await blocked({ client: '192.0.2.0/24' })).toEqual([{ domain: 'ads.example', count: 2 }]);
    expect(await blocked({ group_id: 7 })).toEqual(one);
    expect(await blocked({ group_id: 9 })).toEqual([]);
  });
});

describe('readTopClients()', () => {
  test('counts all queries of a client, and its blocked queries', async () => {
    expect(await readTopClients(log, { fromMs: FROM_MS, toMs: TO_MS, limit: 10 })).toEqual([
      { ip: '192.0.2.7', clientId: null, count: 4, blocked: 1 },
      { ip: '192.0.2.8', clientId: null, count: 2, blocked: 1 },
    ]);
  });
});
