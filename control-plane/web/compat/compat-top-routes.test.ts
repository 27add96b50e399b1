import { beforeEach, describe, expect, test } from '@jest/globals';
import { CompatSuite, errorIn } from '../../../test/support/parts/compat-suite.ts';
import { loggedDay } from '../../../test/support/parts/logged-day.ts';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { storeRows } from '../../../test/support/parts/stored-log.ts';
import type { CompatSummary } from '../../../shared/api/compat/compat-api.ts';
import type {
  CompatDatabaseSummary,
  CompatTopClients,
  CompatTopDomains,
  CompatUpstreams,
} from '../../../shared/api/compat/compat-log-api.ts';
import { QueryStatus, type QueryStatusCode } from '../../../shared/query-log.ts';
import { TopClients, TopDomains } from '../../../shared/api/stats-api.ts';

const compat = new CompatSuite({ toml: 'auth.enabled = false' });
let total: number;
let blockedThere: number;
beforeEach(async () => {
  await storeRows(compat.suite.database, loggedDay(compat.api.clock.nowMs()));
  ({
    queries: { total, blocked: blockedThere },
  } = await compat.open<CompatSummary>('/api/stats/summary'));
});

const countsOf = (lines: readonly { domain: string; count: number }[]): Record<string, number> =>
  Object.fromEntries(lines.map(({ domain, count }) => [domain, count]));

async function native(path: string): Promise<unknown> {
  return (await compat.api.send('GET', `/svc/api${path}`)).body;
}

describe('the top lists of the compatibility API', () => {
  test('contain the names of the native lists, but count canaries as blocked and private PTR names as allowed', async () => {
    const read = async (path: string): Promise<Record<string, number>> =>
      countsOf((await compat.open<CompatTopDomains>(path)).domains);
    const [allowed, blocked] = [
      countsOf(TopDomains.parse(await native('/stats/top_domains?limit=1000'))),
      countsOf(TopDomains.parse(await native('/stats/top_blocked?limit=1000'))),
    ];
    const isPrivate = (name: string): boolean => name.endsWith('.in-addr.arpa');
    const moved = Object.entries(blocked).filter(([name]) => isPrivate(name));
    expect(moved).toHaveLength(2);
    const { 'local-1.example.org': local = 0, ...others } = { ...allowed, ...Object.fromEntries(moved) };
    expect(await read('/api/stats/top_domains?count=1000')).toEqual({
      ...others,
      'local-1.example.org': local - 1,
    });
    const stay = Object.fromEntries(Object.entries(blocked).filter(([name]) => !isPrivate(name)));
    for (const path of [
      '/api/stats/top_blocked?count=1000',
      '/api/stats/top_domains?blocked=True&count=1000',
    ])
      expect(await read(path)).toEqual({ ...stay, 'local-1.example.org': 1 });
    const few = await compat.open<CompatTopDomains>('/api/stats/top_domains?count=3');
    expect([few.domains.length, few.total_queries, few.blocked_queries]).toEqual([3, total, blockedThere]);
  });

  test('contain the clients of the native API, by all queries or by blocked queries', async () => {
    const expected = TopClients.parse(await native('/stats/top_clients'));
    const { clients } = await compat.open<CompatTopClients>('/api/stats/top_clients');
    expect(clients).toEqual(expected.map(({ ip, count }) => ({ ip, count, name: '' })));
    const byBlocked = await compat.open<CompatTopClients>('/api/stats/top_clients?blocked=true');
    expect(byBlocked.clients.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(0);
    expect(byBlocked.clients.map(({ count }) => count)).toEqual(
      expected.map((client) => client.blocked).sort((a, b) => b - a),
    );
  });

  test('start with the client with the most blocked queries, even if other clients send more queries', async () => {
    const nowMs = compat.api.clock.nowMs() - 60_000;
    const asked = (client: number[], times: number, status: QueryStatusCode) =>
      Array.from({ length: times }, () =>
        logRow({ timestampMs: nowMs, client: Uint8Array.from(client), status }),
      );
    const busy = Array.from({ length: 1001 }, (_, i) =>
      asked([10, 9, i >> 8, i & 255], 90, QueryStatus.CACHED),
    );
    const kept = asked([10, 8, 0, 1], 80, QueryStatus.BLOCKED_LIST);
    await storeRows(compat.suite.database, [...busy.flat(), ...kept]);
    const { clients } = await compat.open<CompatTopClients>('/api/stats/top_clients?blocked=true&count=1');
    expect(clients).toEqual([{ ip: '10.8.0.1', count: 80, name: '' }]);
  });

  test('have the requested length', async () => {
    const lengthOf = async (path: string): Promise<number> =>
      (await compat.open<CompatTopDomains>(path)).domains.length;
    expect(await lengthOf('/api/stats/top_domains?count=2')).toBe(2);
    expect(await lengthOf('/api/stats/top_domains?count=0')).toBe(1);
    expect(await lengthOf('/api/stats/top_domains?count=-1')).toBe(1);
    expect(await lengthOf('/api/stats/top_blocked')).toBe(10);
    expect(await lengthOf('/api/stats/top_blocked?count=99999999')).toBeGreaterThan(10);
  });

  test('contain the names blocked last, newest first', async () => {
    const read = async (query: string): Promise<string[]> =>
      (await compat.open<{ blocked: string[] }>(`/api/stats/recent_blocked${query}`)).blocked;
    const all = await read('?count=1000');
    expect(all).toHaveLength(blockedThere);
    expect(await read('')).toEqual(all.slice(0, 1));
    expect(await read('?count=3')).toEqual(all.slice(0, 3));
    expect(await read('?count=0')).toEqual([]);
  });

  test('contain blocklist and cache first, then the upstream servers', async () => {
    const found = await compat.open<CompatUpstreams>('/api/stats/upstreams');
    const [blocklist, cache, ...servers] = found.upstreams;
    expect(blocklist).toMatchObject({ ip: 'blocklist', name: 'blocklist', port: -1, count: blockedThere });
    expect(cache).toMatchObject({ ip: 'cache', port: -1 });
    expect(servers.map(({ name, ip, port }) => [name, ip, port])).toEqual([
      ['192.0.2.53', '192.0.2.53', 53],
      ['dns.example.org', '192.0.2.54', 853],
    ]);
    expect(servers[0]!.statistics.response).toBeGreaterThan(0.001);
    expect(found.total_queries).toBe(total);
  });

  test('cover any period, for which both start and end are required', async () => {
    const nowSecs = compat.api.clock.nowMs() / 1000;
    const sums = await compat.open<CompatDatabaseSummary>(
      `/api/stats/database/summary?from=${nowSecs - 86_400}&until=${nowSecs}`,
    );
    expect([sums.sum_queries, sums.sum_blocked]).toEqual([total, blockedThere]);
    const inThisMinute = compat.api.clock.nowMs() + 500;
    compat.api.clock.advanceSecs(1);
    await storeRows(compat.suite.database, [logRow({ timestampMs: inThisMinute })]);
    const running = await compat.open<CompatDatabaseSummary>(
      `/api/stats/database/summary?from=${nowSecs - 86_400}&until=${nowSecs + 1}`,
    );
    expect(running.sum_queries).toBe(total + 1);
    const week = await compat.open<CompatDatabaseSummary>(
      `/api/stats/database/summary?from=${nowSecs - 604_800}&until=${nowSecs}`,
    );
    expect(week.sum_queries).toBe(total + 4);
    const none = await compat.open<CompatDatabaseSummary>(
      `/api/stats/database/summary?from=${nowSecs}&until=5`,
    );
    expect(none.sum_queries).toBe(0);
    for (const query of ['', '?from=5', '?until=5', '?from=x&until=y']) {
      const answer = await compat.send('GET', `/api/stats/database/summary${query}`);
      expect([answer.status, errorIn(answer).key]).toEqual([400, 'bad_request']);
    }
  });
});
