/** Compares queries by upstream, list and service, as returned over HTTP, with the stored rows. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { everyRoute } from '../../../test/support/parts/every-route.ts';
import { logRow, type RowInWords, wireName } from '../../../test/support/parts/log-row.ts';
import { RunningApi } from '../../../test/support/parts/running-api.ts';
import { storeRows } from '../../../test/support/parts/stored-log.ts';
import { openSuiteDatabase, type SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { StatsBreakdown, TopClients } from '../../../shared/api/stats-api.ts';
import { QueryStatus } from '../../../shared/query-log.ts';

const FIRST = 'udp://192.0.2.53:53';
const SECOND = 'tls://dns.example.org:853';

let suite: SuiteDatabase;
let api: RunningApi;

function times(count: number, row: Partial<RowInWords>): Partial<RowInWords>[] {
  return Array.from({ length: count }, () => row);
}

beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, everyRoute());
  const forwarded = { status: QueryStatus.ALLOWED, cached: false };
  const byList = {
    ...{ status: QueryStatus.BLOCKED_LIST, cached: false, qname: wireName('ads.example') },
    ...{ blockSource: 'Ads', blockRule: 'ads.example' },
  };
  const byService = {
    ...{ status: QueryStatus.BLOCKED_SERVICE, cached: false, qname: wireName('tube.example') },
    ...{ blockSource: 'Tube', blockRule: 'tube.example' },
  };
  const rows = [
    ...times(3, { ...forwarded, upstream: FIRST, responseTimeUs: 20_000 }),
    ...times(1, { ...forwarded, upstream: FIRST, responseTimeUs: 60_000 }),
    ...times(6, { ...forwarded, upstream: SECOND, responseTimeUs: 5000 }),
    // These answers are from the cache: rows have the name of the upstream, but were not forwarded.
    ...times(2, { upstream: FIRST }),
    ...times(5, { ...byList, lists: [3, 12], client: Uint8Array.of(192, 0, 2, 8) }),
    ...times(1, { ...byList, qname: wireName('more.example'), lists: [12] }),
    ...times(2, byService),
    // A rule with the same name as the service.
    ...times(1, { ...byService, status: QueryStatus.BLOCKED_MANAGED, qname: wireName('other.example') }),
  ];
  await storeRows(
    suite.database,
    rows.map((row) => logRow({ timestampMs: api.clock.nowMs(), ...row })),
  );
});
afterAll(async () => {
  await api.close();
  await suite.close();
});

describe('GET /stats/breakdown', () => {
  test('returns the queries that waited for each upstream, and the blocked queries of each list and service', async () => {
    const { status, body } = await api.send('GET', '/api/stats/breakdown?period=1h');
    expect(status).toBe(200);
    expect(StatsBreakdown.parse(body)).toEqual({
      queries_forwarded: 10,
      queries_blocked: 9,
      upstreams: [
        { upstream: SECOND, count: 6, avg_time_ms: 5 },
        { upstream: FIRST, count: 4, avg_time_ms: 30 },
      ],
      blocked_by_list: [
        { list_id: 12, name: null, count: 6 },
        { list_id: 3, name: null, count: 5 },
      ],
      blocked_by_service: [{ service: 'Tube', count: 2 }],
    });
  });

  test('counts for each upstream the rows that GET /queries finds with the filter for this upstream', async () => {
    const { body } = await api.send('GET', '/api/stats/breakdown?period=1h');
    const { upstreams } = StatsBreakdown.parse(body);
    for (const { upstream, count } of upstreams) {
      const filter = `period=1h&status=ALLOWED&upstream=${encodeURIComponent(upstream)}`;
      const { body: page } = await api.send('GET', `/api/queries?${filter}`);
      expect([upstream, (page as { total: number }).total]).toEqual([upstream, count]);
    }
  });

  test('is empty for a node that has answered no queries', async () => {
    const { body } = await api.send('GET', '/api/stats/breakdown?period=1h&node=attic');
    const { upstreams, blocked_by_list: lists, queries_blocked: blocked } = StatsBreakdown.parse(body);
    expect([upstreams, lists, blocked]).toEqual([[], [], 0]);
  });
});

test('GET /stats/top_clients?by=blocked lists the client with the most blocked queries first', async () => {
  const first = async (by: string): Promise<[string, number]> => {
    const { body } = await api.send('GET', `/api/stats/top_clients?period=1h&by=${by}`);
    const [client] = TopClients.parse(body);
    return [client!.ip_address, client!.blocked];
  };
  expect(await first('all')).toEqual(['192.0.2.7', 4]);
  expect(await first('blocked')).toEqual(['192.0.2.8', 5]);
  const { status, problem } = await api.send('GET', '/api/stats/top_clients?by=queries');
  expect([status, problem.errors!.map(({ path }) => path)]).toEqual([400, ['by']]);
});
