/** Timeline, top lists and dashboard over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { everyRoute } from '../../../test/support/parts/every-route.ts';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { RunningApi } from '../../../test/support/parts/running-api.ts';
import { storeRows } from '../../../test/support/parts/stored-log.ts';
import { openSuiteDatabase, type SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { CacheStats } from '../../../shared/api/cache-api.ts';
import { Dashboard, StatsSummary, Timeline, TopClients, TopDomains } from '../../../shared/api/stats-api.ts';
import { QueryStatus } from '../../../shared/query-log.ts';

let suite: SuiteDatabase;
let api: RunningApi;

/** 200 queries in the last 200 minutes from three clients, every fourth of them blocked; and one query before that. */
beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, everyRoute());
  const rows = Array.from({ length: 200 }, (_, i) => {
    const isBlocked = i % 4 === 0;
    return logRow({
      timestampMs: api.clock.nowMs() - i * 60_000,
      client: Uint8Array.of(192, 0, 2, i % 3),
      groupId: 1 + (i % 2),
      qname: wireName(isBlocked ? 'ads.example' : `host-${i % 20}.example.org`),
      status: isBlocked ? QueryStatus.BLOCKED_LIST : QueryStatus.CACHED,
      cached: !isBlocked,
    });
  });
  await storeRows(suite.database, [...rows, logRow({ timestampMs: api.clock.nowMs() - 7 * 86_400_000 })]);
  const json = { ip_address: '192.0.2.1', name: 'Phone' };
  expect((await api.send('POST', '/api/clients', { json })).status).toBe(201);
});
afterAll(async () => {
  await api.close();
  await suite.close();
});

async function get(path: string): Promise<unknown> {
  const { status, body } = await api.send('GET', `/api${path}`);
  expect([path, status]).toEqual([path, 200]);
  return body;
}

async function faultOf(path: string): Promise<string[]> {
  const { status, problem } = await api.send('GET', `/api${path}`);
  expect(status).toBe(400);
  return problem.errors!.map((fault) => fault.path);
}

describe('GET /queries/timeline', () => {
  test.each(['30m', '24h', '2d', '1w', '10w'])('adds up to the summary of %s', async (period) => {
    const timeline = Timeline.parse(await get(`/queries/timeline?period=${period}`));
    const summary = StatsSummary.parse(await get(`/stats?period=${period}`));
    expect(summary.queries_total).toBeGreaterThan(0);
    const sum = (key: 'total' | 'blocked'): number => timeline.buckets.reduce((all, b) => all + b[key], 0);
    expect([sum('total'), sum('blocked')]).toEqual([summary.queries_total, summary.queries_blocked]);
  });

  test('returns every bucket of the period, by default of a suitable length', async () => {
    const day = Timeline.parse(await get('/queries/timeline'));
    expect([day.granularity, day.timezone, day.buckets.length]).toEqual(['15min', 'UTC', 97]);
    const path = '/queries/timeline?period=3d&granularity=day&timezone=Asia/Kolkata';
    const days = Timeline.parse(await get(path));
    expect(days.buckets.map(({ timestamp }) => timestamp.slice(8, 16))).toEqual([
      '11T18:30',
      '12T18:30',
      '13T18:30',
      '14T18:30',
    ]);
  });

  test('selects one client, network or group if requested', async () => {
    const totals = async (filter: string): Promise<number[]> => {
      const { buckets } = Timeline.parse(await get(`/queries/timeline?${filter}`));
      const sum = (key: 'total' | 'blocked' | 'cached'): number =>
        buckets.reduce((all, bucket) => all + bucket[key], 0);
      expect(buckets).toHaveLength(97);
      return [sum('total'), sum('blocked'), sum('cached')];
    };
    expect(await totals('client=192.0.2.1')).toEqual([67, 17, 50]);
    expect(await totals('client=192.0.2.0/24')).toEqual(await totals(''));
    expect(await totals('group_id=2')).toEqual([100, 0, 100]);
    expect(await totals('client=192.0.2.1&group_id=2')).toEqual([34, 0, 34]);
    expect(await totals('client=192.0.2.99')).toEqual([0, 0, 0]);
    expect(await faultOf('/queries/timeline?client=phone')).toEqual(['client']);
  });

  test('refuses invalid parameters, and names the field', async () => {
    expect(await faultOf('/queries/timeline?period=3d&granularity=minute')).toEqual(['granularity']);
    expect(await faultOf('/queries/timeline?period=10w&granularity=15min')).toEqual(['granularity']);
    expect(await faultOf('/queries/timeline?granularity=week')).toEqual(['granularity']);
    expect(await faultOf('/queries/timeline?timezone=%2B01:00')).toEqual(['timezone']);
  });
});

describe('GET /stats/top_*', () => {
  test('lists blocked names and names that were not blocked separately', async () => {
    expect(TopDomains.parse(await get('/stats/top_blocked'))).toEqual([{ domain: 'ads.example', count: 50 }]);
    const domains = TopDomains.parse(await get('/stats/top_domains?limit=3'));
    expect(domains).toEqual([1, 10, 11].map((i) => ({ domain: `host-${i}.example.org`, count: 10 })));
  });

  test('lists clients with their names', async () => {
    expect(TopClients.parse(await get('/stats/top_clients'))).toEqual([
      { ip_address: '192.0.2.0', ip: '192.0.2.0', hostname: null, client_id: null, count: 67, blocked: 17 },
      {
        ip_address: '192.0.2.1',
        ip: '192.0.2.1',
        hostname: 'Phone',
        client_id: null,
        count: 67,
        blocked: 17,
      },
      { ip_address: '192.0.2.2', ip: '192.0.2.2', hostname: null, client_id: null, count: 66, blocked: 16 },
    ]);
  });

  test('selects a client, a network, a group and a period', async () => {
    const blocked = async (query: string): Promise<number[]> =>
      TopDomains.parse(await get(`/stats/top_blocked?${query}`)).map(({ count }) => count);
    expect(await blocked('client=192.0.2.1')).toEqual([17]);
    expect(await blocked('client=192.0.2.0/31')).toEqual([34]);
    expect(await blocked('group_id=2')).toEqual([]);
    expect(await blocked('period=4m')).toEqual([2]);
    expect(await faultOf('/stats/top_blocked?limit=0&client=x&group_id=0')).toEqual([
      'limit',
      'client',
      'group_id',
    ]);
  });
});

describe('GET /dashboard', () => {
  test.each(['1h', '24h', '1w'])('for %s returns the same data as the separate routes', async (period) => {
    const { stats, rate, cache, timeline, ...tops } = Dashboard.parse(
      await get(`/dashboard?period=${period}`),
    );
    expect(stats).toEqual(StatsSummary.parse(await get(`/stats?period=${period}`)));
    expect(rate).toEqual(await get('/stats/rate'));
    expect(cache).toEqual(CacheStats.parse(await get(`/cache/stats?period=${period}`)));
    expect(timeline).toEqual(await get(`/queries/timeline?period=${period}`));
    for (const list of ['top_blocked', 'top_domains', 'top_clients'] as const)
      expect(tops[list]).toEqual(await get(`/stats/${list}?period=${period}`));
  });

  test('accepts the granularity and the time zone of its timeline', async () => {
    const { timeline } = Dashboard.parse(await get('/dashboard?granularity=hour&timezone=Asia/Kolkata'));
    expect([timeline.granularity, timeline.buckets[0]!.timestamp]).toEqual([
      'hour',
      '2026-01-14T11:30:00.000Z',
    ]);
    expect(await faultOf('/dashboard?period=3d&granularity=minute')).toEqual(['granularity']);
  });
});
