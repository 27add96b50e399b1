/**
 * Figures of every endpoint over the same log: parts never exceed their total, and the same figure has the same value
 * everywhere.
 */
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { CompatUpstreams } from '../../shared/api/compat/compat-log-api.ts';
import {
  ClientTimeline,
  Dashboard,
  StatsBreakdown,
  StatsSummary,
  Timeline,
} from '../../shared/api/stats-api.ts';
import { QueryLogPage } from '../../shared/api/query-log-api.ts';
import { Exclusion, isBlockedStatus, QueryStatus } from '../../shared/query-log.ts';
import { CompatSuite } from '../support/parts/compat-suite.ts';
import { logRow, wireName } from '../support/parts/log-row.ts';
import { storeRows } from '../support/parts/stored-log.ts';

const compat = new CompatSuite({ toml: 'auth.enabled = false' });
const UPSTREAMS = ['udp://192.0.2.53:53', 'tls://192.0.2.54:853', null];
const CLIENT = Uint8Array.of(192, 0, 2, 9);

/**
 * One query for each combination of status, cache, upstream, and exclusion from the log, from statistics, from both or
 * from neither; impossible combinations are left out.
 */
const asked = Object.values(Exclusion).flatMap((exclusion) =>
  Object.values(QueryStatus)
    .flatMap((status) =>
      [true, false].flatMap((cached) => UPSTREAMS.map((upstream) => ({ status, cached, upstream }))),
    )
    .map((query, index) => ({ ...query, exclusion, index })),
);
/** Queries that statistics count, and queries that are in the log. */
const queries = asked.filter(({ exclusion }) => (exclusion & Exclusion.STATS) === 0);
const logged = asked.filter(({ exclusion }) => (exclusion & Exclusion.LOG) === 0);
const passed = queries.filter(({ status }) => !isBlockedStatus(status));
const WHOLE = {
  total: queries.length,
  blocked: queries.length - passed.length,
  cached: passed.filter(({ cached }) => cached).length,
  forwarded: passed.filter(({ cached, upstream }) => !cached && upstream !== null).length,
};

beforeEach(async () => {
  const nowMs = compat.api.clock.nowMs();
  const rows = asked.map(({ index, ...query }) =>
    logRow({
      ...query,
      client: index % 2 === 0 ? CLIENT : Uint8Array.of(192, 0, 2, 10),
      timestampMs: nowMs - 60_000 * (index % 50) - 1,
      qname: wireName(`name-${index % 7}.example.org`),
      responseTimeUs: 1000 * index,
      blockSource: isBlockedStatus(query.status) ? 'List' : null,
    }),
  );
  await storeRows(compat.suite.database, rows);
});

const read = async (path: string): Promise<unknown> => {
  const { status, body, text } = await compat.api.send('GET', `/svc/api${path}`);
  expect([path, status, status === 200 ? '' : text]).toEqual([path, 200, '']);
  return body;
};

const sum = (values: readonly number[] | Readonly<Record<string, number>>): number =>
  Object.values(values).reduce((all, value) => all + value, 0);

function expectTotals(buckets: Timeline['buckets'], whole: Partial<typeof WHOLE>): void {
  for (const { total, blocked, cached, forwarded } of buckets)
    expect(blocked + cached + forwarded).toBeLessThanOrEqual(total);
  for (const [key, value] of Object.entries(whole))
    expect([key, sum(buckets.map((bucket) => bucket[key as keyof typeof WHOLE]))]).toEqual([key, value]);
}

describe('the statistics of the native API', () => {
  test.each(['minute', '15min', 'hour', 'day'])('count each query once in the timeline by %s', async (by) => {
    const timeline = Timeline.parse(await read(`/queries/timeline?period=2h&granularity=${by}`));
    expectTotals(timeline.buckets, WHOLE);
  });

  test('count each query once in the timeline of the busiest clients and all other clients', async () => {
    const { clients, buckets } = ClientTimeline.parse(await read('/stats/client_timeline?period=2h&limit=1'));
    expect(clients).toHaveLength(1);
    expect(sum(buckets.map(({ counts, others }) => sum(counts) + others))).toBe(WHOLE.total);
  });

  test('contain all forwarded queries in the breakdown by upstream', async () => {
    const breakdown = StatsBreakdown.parse(await read('/stats/breakdown?period=2h'));
    expect([breakdown.queries_forwarded, breakdown.queries_blocked]).toEqual([
      WHOLE.forwarded,
      WHOLE.blocked,
    ]);
    expect(sum(breakdown.upstreams.map(({ count }) => count))).toBe(WHOLE.forwarded);
  });

  test('count each query once in the timeline of one client, which is read from the log rows', async () => {
    const client = Timeline.parse(await read('/queries/timeline?period=2h&client=192.0.2.9'));
    expectTotals(client.buckets, { total: queries.filter(({ index }) => index % 2 === 0).length });
  });

  test('have counts by type, status, RCODE and protocol that add up to the total', async () => {
    const summary = StatsSummary.parse(await read('/stats?period=2h'));
    expect([summary.queries_total, summary.queries_blocked]).toEqual([WHOLE.total, WHOLE.blocked]);
    for (const kind of ['type', 'status', 'rcode', 'protocol'] as const)
      expect([kind, sum(summary[`queries_by_${kind}`])]).toEqual([kind, WHOLE.total]);
    expect(sum(summary.source_stats)).toBeLessThanOrEqual(WHOLE.blocked);
    const {
      stats,
      timeline,
      top_clients: clients,
      top_domains: domains,
    } = Dashboard.parse(await read('/dashboard?period=2h'));
    expect(stats.queries_total).toBe(WHOLE.total);
    expectTotals(timeline.buckets, WHOLE);
    expect(sum(clients.map(({ count }) => count))).toBe(WHOLE.total);
    expect(sum(clients.map(({ blocked }) => blocked))).toBe(WHOLE.blocked);
    expect(sum(domains.map(({ count }) => count))).toBeLessThanOrEqual(WHOLE.total);
  });

  test('equal the log, except for queries excluded from log or statistics', async () => {
    const summary = StatsSummary.parse(await read('/stats?period=2h'));
    const { total } = QueryLogPage.parse(await read('/queries?limit=1'));
    expect(total).toBe(logged.length);
    expect(summary.queries_total - summary.queries_not_logged + summary.queries_not_counted).toBe(total);
    const isOf = (exclusion: number) => asked.filter((query) => query.exclusion === exclusion).length;
    expect([summary.queries_not_logged, summary.queries_not_counted]).toEqual([
      isOf(Exclusion.LOG),
      isOf(Exclusion.STATS),
    ]);
    for (const filter of ['client=192.0.2.9', 'status=BLOCKED', 'domain=name-1']) {
      const { total: matching } = QueryLogPage.parse(await read(`/queries?limit=1&${filter}`));
      expect(matching).toBeLessThan(total);
      const { data } = QueryLogPage.parse(await read(`/queries?limit=1000&${filter}`));
      expect([filter, data.length]).toEqual([filter, matching]);
    }
  });

  test('average the response time of upstreams only over queries that waited for an upstream', async () => {
    const waited = queries.flatMap(({ status, cached, upstream, index }) =>
      !isBlockedStatus(status) && !cached && upstream !== null ? [index] : [],
    );
    const summary = StatsSummary.parse(await read('/stats?period=2h'));
    expect(summary.avg_upstream_time_ms).toBeCloseTo(sum(waited) / waited.length, 2);
  });
});

test('the compatibility API counts forwarded queries under their upstream, and cached answers under the cache', async () => {
  const { upstreams, total_queries: total } = await compat.open<CompatUpstreams>('/api/stats/upstreams');
  expect(total).toBe(WHOLE.total);
  const servers = upstreams.filter(({ port }) => port > 0);
  expect(sum(servers.map(({ count }) => count))).toBe(WHOLE.forwarded);
  expect(sum(upstreams.map(({ count }) => count))).toBeLessThanOrEqual(total);
});
