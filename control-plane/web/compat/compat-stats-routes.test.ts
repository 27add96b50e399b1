import { beforeEach, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { CompatSuite } from '../../../test/support/parts/compat-suite.ts';
import { loggedDay } from '../../../test/support/parts/logged-day.ts';
import { storeRows } from '../../../test/support/parts/stored-log.ts';
import type { CompatQueryTypes, CompatSummary } from '../../../shared/api/compat/compat-api.ts';
import type { CompatHistory } from '../../../shared/api/compat/compat-log-api.ts';
import { StatsSummary } from '../../../shared/api/stats-api.ts';

const compat = new CompatSuite({ toml: 'auth.enabled = false' });
beforeEach(() => storeRows(compat.suite.database, loggedDay(compat.api.clock.nowMs())));

const sumOf = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

describe('the statistics of the compatibility API', () => {
  test('equal the figures of /stats, and each distribution adds up to the total', async () => {
    const { queries, clients, gravity } = await compat.open<CompatSummary>('/api/stats/summary');
    const native = StatsSummary.parse((await compat.api.send('GET', '/svc/api/stats')).body);
    const { BLOCKED_PTR: privatePtr = 0 } = native.queries_by_status;
    expect(queries).toMatchObject({
      total: native.queries_total,
      // In the compatibility API, a canary counts as blocked, and a private address without a name does not.
      blocked: native.queries_blocked - privatePtr + 1,
      unique_domains: native.unique_domains,
    });
    expect(queries.percent_blocked).toBeCloseTo((100 * queries.blocked) / queries.total, 2);
    expect(queries.status).toMatchObject({ GRAVITY_CNAME: 1, REGEX_CNAME: 1, DENYLIST_CNAME: 1 });
    const { NODATA, CNAME, BLOB, DNSSEC, NXDOMAIN } = queries.replies;
    expect(Math.min(NODATA, CNAME, BLOB, DNSSEC, NXDOMAIN)).toBeGreaterThan(0);
    expect(queries.total).toBeGreaterThan(40);
    expect(clients.active).toBe(native.clients);
    expect(gravity).toEqual({ domains_being_blocked: 12, last_update: Date.UTC(2026, 0, 15, 11) / 1000 });
    for (const counts of [queries.types, queries.status, queries.replies])
      expect(sumOf(counts)).toBe(queries.total);
    const { UNKNOWN, GRAVITY, CACHE_STALE } = queries.status;
    expect(queries.blocked + queries.forwarded + queries.cached + UNKNOWN).toBe(queries.total);
    expect([GRAVITY, CACHE_STALE]).toEqual([
      native.queries_by_status['BLOCKED_LIST'],
      native.queries_by_status['STALE'],
    ]);
    const { types } = await compat.open<CompatQueryTypes>('/api/stats/query_types');
    expect(types).toEqual(queries.types);
    expect(types.A).toBe(native.queries_by_type['A']);
  });

  test('by time have 145 intervals in order, and the intervals add up to the summary', async () => {
    const { queries } = await compat.open<CompatSummary>('/api/stats/summary');
    for (const path of ['/api/history', '/api/stats/history']) {
      const { history } = await compat.open<CompatHistory>(path);
      expect(history).toHaveLength(145);
      expect(history.every(({ timestamp }, at) => timestamp === history[0]!.timestamp + at * 600)).toBe(true);
      expect(history[0]!.timestamp % 600).toBe(300);
      for (const member of ['total', 'blocked', 'cached', 'forwarded'] as const)
        expect(history.reduce((sum, slot) => sum + slot[member], 0)).toBe(queries[member]);
    }
  });

  test('are complete if there are no queries', async () => {
    await asOwner(compat.suite.database, 'TRUNCATE query_blocks, query_runs, query_counts');
    const { queries } = await compat.open<CompatSummary>('/api/stats/summary');
    expect([queries.total, sumOf(queries.types), queries.percent_blocked, queries.frequency]).toEqual([
      0, 0, 0, 0,
    ]);
    expect((await compat.open<CompatHistory>('/api/history')).history).toHaveLength(145);
  });

  test('contain the query rate of the last full minute', async () => {
    compat.api.clock.advanceSecs(60);
    const { queries } = await compat.open<CompatSummary>('/api/stats/summary');
    expect(queries.frequency).toBeCloseTo(0, 1);
    expect(queries.frequency * 60).toBe(Math.round(queries.frequency * 60));
  });
});
