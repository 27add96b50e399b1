/** Information of the API about the node and its queries: health, configuration, rate, summary, log. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asOwner } from '../support/parts/as-owner.ts';
import { CHEAP_HASHING } from '../support/parts/cheap-hashing.ts';
import { nodeIdOf } from '../../control-plane/storage/cluster/node-store.ts';
import { ClusterNodeList } from '../../shared/api/nodes-api.ts';
import { ConfigAnswer } from '../../shared/api/settings-api.ts';
import { QueryLogPage } from '../../shared/api/query-log-api.ts';
import { BlockFilterStats, QueryRate, StatsSummary } from '../../shared/api/stats-api.ts';
import { Health, Hostname, Reachability, SystemInfo } from '../../shared/api/system-api.ts';
import { UpstreamDetailList, UpstreamHealth } from '../../shared/api/upstreams-api.ts';
import { everyRoute } from '../support/parts/every-route.ts';
import { RecordingQueryLog } from '../support/parts/recording-query-log.ts';
import { SAMPLE_FIGURES } from '../support/parts/sample-figures.ts';
import { RunningApi } from '../support/parts/running-api.ts';
import { openSuiteDatabase } from '../support/parts/suite-database.ts';
import type { SuiteDatabase } from '../support/parts/suite-database.ts';

let suite: SuiteDatabase;
let api: RunningApi;

beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, everyRoute());
});
afterAll(async () => {
  await api.close();
  await suite.close();
});

test('GET /system/info returns the load and memory of the machine and of the threads', async () => {
  const labels = (thread: string, worker = ''): Record<string, string> => ({ thread, worker });
  const threadCpu = () => [
    { labels: labels('main'), value: 90 },
    { labels: labels('resolve', '1'), value: 6 },
    { labels: labels('answer', '10'), value: 0 },
    { labels: labels('answer', '1'), value: 3 },
  ];
  const node = await RunningApi.start(suite.database, everyRoute({ threadCpu }));
  node.clock.advanceSecs(60);
  const info = SystemInfo.parse((await node.send('GET', '/api/system/info')).body);
  await node.close();
  expect(info.mem_used_kb + info.mem_available_kb).toBe(info.mem_total_kb);
  expect(info.mem_used_percent).toBeCloseTo((100 * info.mem_used_kb) / info.mem_total_kb, 1);
  expect(info.process.rss_kb).toBeGreaterThan(1000);
  expect(info.process.workers).toEqual([
    { worker: 1, answer_cpu_percent: 5, resolve_cpu_percent: 10 },
    { worker: 10, answer_cpu_percent: 0, resolve_cpu_percent: 0 },
  ]);
});

const SUPPORTS = {
  ...{ edns: 'supported', cookies: 'unknown', case: 'unknown', tcp: 'supported' },
  answers_per_connection: 8,
};

describe('/nodes', () => {
  const UNKNOWN = {
    rows_lost: null,
    rows_missing: 0,
    rows_missing_is_minimum: false,
    rows_spooled: null,
    clock_offset_ms: null,
  };
  const SILENT = {
    upstreams: null,
    cache: null,
    drift: null,
    applied_at: null,
    state: null,
    presence: 'gone',
  };

  beforeEach(async () => {
    await asOwner(suite.database, 'TRUNCATE nodes');
    await suite.database.query(
      `INSERT INTO nodes (id, name, version, address, started_at, last_seen, snapshot_id, policy_revision, qps)
       VALUES ($1, 'node-a', '1.2', NULL, '2025-12-24T00:00:00Z', '2026-01-01T00:00:00Z', 1, 1, 0),
         (8, 'edge', NULL, '192.0.2.54', NULL, '2026-01-02T00:00:00Z', 4, 2, 0.5)`,
      [nodeIdOf('node-a')],
    );
  });

  test('GET returns the current state of this node, and the last report of other nodes', async () => {
    const edge = {
      ...{ node: 'edge', version: null, address: '192.0.2.54' },
      ...{ started_at: null, last_seen: '2026-01-02T00:00:00.000Z' },
      ...{ snapshot_id: 4, policy_revision: 2, lag_ms: 0, qps: 0.5, ...UNKNOWN, ...SILENT },
    };
    const nodes = ClusterNodeList.parse((await api.send('GET', '/api/nodes')).body);
    expect(nodes).toEqual([
      edge,
      {
        ...{ node: 'node-a', version: '1.2', address: '192.0.2.53', state: 'ready', presence: 'live' },
        ...{ started_at: '2025-12-24T00:00:00.000Z', last_seen: new Date(api.clock.nowMs()).toISOString() },
        ...{ snapshot_id: 7, policy_revision: 3, applied_at: null, lag_ms: 0, qps: 1500 },
        ...{ ...SAMPLE_FIGURES, rows_missing: 0, rows_missing_is_minimum: false, clock_offset_ms: -2 },
      },
    ]);
    const one = await api.send('GET', '/api/nodes/edge');
    expect([one.status, one.body]).toEqual([200, edge]);
    expect((await api.send('GET', '/api/nodes/nowhere')).status).toBe(404);
    // The claim states that another machine uses the name, so the stored data of node-a are shown.
    const claim = { isHeld: () => false, aheadMs: () => null };
    const nameless = await RunningApi.start(suite.database, everyRoute({ claim }));
    const [, other] = ClusterNodeList.parse((await nameless.send('GET', '/api/nodes')).body);
    await nameless.close();
    expect(other).toMatchObject({ node: 'node-a', last_seen: '2026-01-01T00:00:00.000Z', qps: 0 });
  });

  test('DELETE removes a stopped node, but not one that may still run', async () => {
    const removeNode = async (node: string): Promise<number> =>
      (await api.send('DELETE', `/api/nodes/${node}`)).status;
    await suite.database.query(`UPDATE nodes SET run = gen_random_uuid(), last_seen = now() WHERE id = 8`);
    expect([await removeNode('edge'), await removeNode('nowhere')]).toEqual([409, 404]);
    await suite.database.query(`UPDATE nodes SET last_seen = now() - interval '61 seconds' WHERE id = 8`);
    expect([await removeNode('edge'), await removeNode('edge')]).toEqual([204, 404]);
    const nodes = ClusterNodeList.parse((await api.send('GET', '/api/nodes')).body);
    expect(nodes.map(({ node }) => node)).toEqual(['node-a']);
    const { rows } = await suite.database.query('SELECT action, subject FROM audit_log');
    expect(rows).toEqual([{ action: 'forgotten', subject: 'node edge' }]);
  });
});

describe('GET /health', () => {
  test('returns the state of each part', async () => {
    api.clock.advanceSecs(90);
    const health = Health.parse((await api.send('GET', '/api/health')).body);
    expect(health).toMatchObject({ status: 'ok', version: '0.0.0-test', node: 'node-a', uptime_secs: 90 });
  });

  test.each([
    ['degraded', 'ok', 200],
    ['ok', 'down', 200],
    ['down', 'ok', 503],
  ] as const)('with DNS %s and filters %s is %d and degraded', async (dns, filters, status) => {
    const checks = {
      dns: { status: dns, detail: 'why' },
      database: { status: 'ok' },
      upstreams: { status: 'ok' },
      filters: { status: filters },
      nodes: { status: 'ok' },
      clock: { status: 'ok' },
      access: { status: 'ok' },
      web: { status: 'ok' },
      certificates: { status: 'ok' },
      disk: { status: 'ok' },
      configuration: { status: 'ok' },
      privileges: { status: 'ok' },
    } as const;
    const node = await RunningApi.start(
      suite.database,
      everyRoute({
        health: { checks: () => checks },
      }),
    );
    const answer = await node.send('GET', '/api/health');
    await node.close();
    expect(answer.status).toBe(status);
    expect(Health.parse(answer.body)).toMatchObject({ status: 'degraded', checks });
  });

  test('shows reasons to logged-in users, and only states to other clients', async () => {
    const check = { status: 'degraded', detail: 'connect to 10.1.2.3: refused' } as const;
    const checks = {
      ...{ dns: check, database: check, upstreams: check },
      ...{ filters: check, nodes: check, clock: check, access: check, web: check },
      ...{ certificates: check, disk: check, configuration: check, privileges: check },
    };
    const node = await RunningApi.start(suite.database, everyRoute({ health: { checks: () => checks } }), {
      toml: '',
    });
    await node.setUp();
    const session = await node.logIn();
    const known = Health.parse((await node.send('GET', '/api/health', { session })).body);
    const strangers = [
      await node.send('GET', '/api/health'),
      await node.send('GET', '/api/health', { session: 'A'.repeat(43) }),
    ];
    await node.close();
    expect(known.checks).toEqual(checks);
    for (const { status, text } of strangers) {
      expect([status, text.includes('detail') || text.includes('10.1.2.3')]).toEqual([200, false]);
      expect(JSON.parse(text)).toMatchObject({ status: 'degraded', checks: { dns: { status: 'degraded' } } });
    }
  });
});

describe('GET /upstream/health', () => {
  test('maps each server to its state, and more data in /detail', async () => {
    const health = UpstreamHealth.parse((await api.send('GET', '/api/upstream/health')).body);
    expect(health).toEqual({ 'tls://dns.example.org': 'Healthy', '192.0.2.53': 'Unhealthy' });
    const detail = UpstreamDetailList.parse((await api.send('GET', '/api/upstream/health/detail')).body);
    expect(detail).toEqual([
      {
        address: 'tls://dns.example.org',
        protocol: 'tls',
        status: 'Healthy',
        pool_name: 'main',
        kind: 'pool',
        strategy: 'Fastest',
        latency_ms: { avg: 20, p50: 20, p95: 30 },
        queries: 100,
        failures: 2,
        consecutive_failures: 0,
        last_error: 'timeout',
        resolved: ['192.0.2.1'],
        supports: SUPPORTS,
        removes_signatures: false,
      },
      {
        address: '192.0.2.53',
        protocol: 'udp',
        status: 'Unhealthy',
        pool_name: 'corp.example.org',
        kind: 'forward_zone',
        strategy: 'Parallel',
        latency_ms: null,
        queries: 100,
        failures: 2,
        consecutive_failures: 0,
        last_error: 'timeout',
        resolved: [],
        supports: SUPPORTS,
        removes_signatures: false,
      },
    ]);
  });
});

describe('GET /config', () => {
  test('shows every section and no secret', async () => {
    const hash = await CHEAP_HASHING.hash('from the file');
    const toml = [
      `auth.admin.password_hash = "${hash}"`,
      'auth.enabled = false',
      'database.url = "postgres://weir:s3cr3t-word@db.example/weir"',
    ].join('\n');
    const node = await RunningApi.start(suite.database, everyRoute(), { toml });
    const answer = await node.send('GET', '/api/config');
    await node.close();
    const config = ConfigAnswer.parse(answer.body);
    expect(config.server).toMatchObject({ web_port: 0, alt_compat: false, web_tls: { enabled: false } });
    expect(config.dns['pools']).toBeInstanceOf(Array);
    expect(config.auth).toMatchObject({ enabled: false, admin: { username: 'admin' } });
    expect(config.database).toMatchObject({ log_queries: true });
    expect(answer.text).not.toMatch(/argon2|s3cr3t-word/);
    expect([config.auth['admin'], config.database]).toEqual([
      expect.not.objectContaining({ password_hash: expect.anything() }),
      expect.not.objectContaining({ url: expect.anything() }),
    ]);
    expect(config.sources).toMatchObject({
      'auth.admin.password_hash': 'environment',
      'database.url': 'file',
    });
  });
});

describe('statistics', () => {
  test('GET /hostname, /block-filter/stats and /stats return the documented fields', async () => {
    expect(Hostname.parse((await api.send('GET', '/api/hostname')).body).hostname).not.toBe('');
    expect(
      BlockFilterStats.parse((await api.send('GET', '/api/block-filter/stats')).body).blocked_domains,
    ).toBe(12);
    const summary = StatsSummary.parse((await api.send('GET', '/api/stats?period=7d')).body);
    expect(summary.queries_total).toBe(0);
  });

  test('GET /stats/rate counts per second or per minute', async () => {
    const rate = async (query: string) =>
      QueryRate.parse((await api.send('GET', `/api/stats/rate${query}`)).body);
    expect(await rate('')).toEqual({ queries: 1500, rate: '1.5k q/s' });
    expect(await rate('?unit=second')).toEqual({ queries: 1500, rate: '1.5k q/s' });
    expect(await rate('?unit=minute')).toEqual({ queries: 90_000, rate: '90k q/min' });
    const answer = await api.send('GET', '/api/stats/rate?unit=hour');
    expect([answer.status, answer.problem.errors![0]!.path]).toEqual([400, 'unit']);
  });

  test.each(['0h', '-1h', '24', 'h', '1y', '99999999d', '24h%00', '', '1h&period=2h'])(
    'GET /stats?period=%s is 400',
    async (period) => {
      const answer = await api.send('GET', `/api/stats?period=${period}`);
      expect([answer.status, answer.problem.errors![0]!.path]).toEqual([400, 'period']);
    },
  );
});

describe('GET /queries', () => {
  const log = new RecordingQueryLog();
  let node: RunningApi;

  beforeAll(async () => {
    node = await RunningApi.start(suite.database, everyRoute({ queryLog: log }));
  });
  afterAll(() => node.close());

  test('applies every filter', async () => {
    const query =
      'limit=5&offset=10&period=1h&domain=Example&client=2001:db8::/64&group_id=2&type=HTTPS&status=BLOCKED_LIST' +
      '&rcode=NXDOMAIN&protocol=doh&upstream=udp://192.0.2.1:53&dnssec=secure&node=a';
    const page = QueryLogPage.parse((await node.send('GET', `/api/queries?${query}`)).body);
    expect(page).toMatchObject({ data: [], total: 0, limit: 5, offset: 10 });
    expect(log.filters.at(-1)).toEqual({
      limit: 5,
      offset: 10,
      from: new Date(node.clock.nowMs() - 3_600_000),
      to: null,
      domain: 'Example',
      client: '2001:db8::/64',
      group_id: 2,
      type: 'HTTPS',
      status: 'BLOCKED_LIST',
      rcode: 'NXDOMAIN',
      protocol: 'doh',
      upstream: 'udp://192.0.2.1:53',
      dnssec: 'secure',
      node: 'a',
    });
  });

  test('accepts unknown types and RCODEs by number', async () => {
    await node.send('GET', '/api/queries?type=TYPE65280&rcode=rcode23');
    expect(log.filters.at(-1)).toMatchObject({ type: 'TYPE65280', rcode: 'rcode23' });
  });

  test('returns the newest hundred rows of the whole log', async () => {
    await node.send('GET', '/api/queries');
    expect(log.filters.at(-1)).toEqual({ limit: 100, offset: 0, from: null, to: null });
  });

  test('accepts times with any offset', async () => {
    await node.send('GET', '/api/queries?from=2026-01-01T00:00:00%2B02:00&to=2026-01-02T00:00:00Z');
    const { from, to } = log.filters.at(-1)!;
    expect([from, to]).toEqual([new Date('2025-12-31T22:00:00Z'), new Date('2026-01-02T00:00:00Z')]);
  });

  test('returns an empty page for filters that match nothing, and rejects a forged cursor', async () => {
    const everything =
      'period=1h&domain=x&client=192.0.2.0/24&group_id=1&type=A&status=CACHED&rcode=NOERROR&protocol=udp' +
      '&upstream=u&dnssec=secure&node=n';
    const page = QueryLogPage.parse((await api.send('GET', `/api/queries?${everything}`)).body);
    expect(page).toMatchObject({ data: [], total: 0, limit: 100, offset: 0 });
    const answer = await api.send('GET', '/api/queries?cursor=forged');
    expect([answer.status, answer.problem.errors![0]!.path]).toEqual([400, 'cursor']);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['offset=-1', 'offset'],
    ['offset=1.5', 'offset'],
    ['offset=99999999999', 'offset'],
    ['domain=%00', 'domain'],
    ['client=localhost', 'client'],
    ['client=192.0.2.1/33', 'client'],
    ['group_id=x', 'group_id'],
    ['status=STOPPED', 'status'],
    ['protocol=quic', 'protocol'],
    ['dnssec=maybe', 'dnssec'],
    ['type=A%20OR', 'type'],
    ['type=TYPE65536', 'type'],
    ['rcode=NOSUCH', 'rcode'],
    ['from=yesterday', 'from'],
    ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'to'],
    ['from=2026-01-02T00:00:00Z&period=1h', 'period'],
  ])('rejects %s and names the parameter', async (query, path) => {
    const answer = await node.send('GET', `/api/queries?${query}`);
    expect([answer.status, answer.problem.errors![0]!.path]).toEqual([400, path]);
  });
});

test("GET /system/reachability counts devices other than this machine, and identifies the caller's device", async () => {
  const { clients } = api.parts;
  const lastSeenMs = api.clock.nowMs();
  const read = async () =>
    Reachability.parse(
      (await api.send('GET', '/api/system/reachability', { headers: { 'x-forwarded-for': '192.0.2.44' } }))
        .body,
    );
  const before = await read();
  expect(before.this_device).toEqual({ address: '127.0.0.1', is_server: false, last_seen: null });
  expect(before.dns).toMatchObject({ dns_port: 5300, is_chosen: false });
  expect(before.names_active).toBe(14);
  for (const address of ['127.0.0.1', '192.0.2.40', '192.0.2.41'])
    clients.see({ address, queries: 1, lastSeenMs });
  const { devices, this_device: device } = await read();
  expect(devices).toBe(before.devices + 2);
  expect(device.last_seen).toBe(new Date(lastSeenMs).toISOString());
});
