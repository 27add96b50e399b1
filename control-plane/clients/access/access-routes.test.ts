import { beforeEach, describe, expect, test } from '@jest/globals';
import { RefusedClients } from '../../../shared/api/policy/access-api.ts';
import type { RunningApi, Rows } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import type { ClientDirectory } from '../devices/client-directory.ts';
import { revisionRoutes } from '../../transfer/revisions/revision-routes.ts';
import { ActiveAccess } from './active-access.ts';
import { AccessReports } from './access-reports.ts';
import type { RefusedNetworkReport } from './access-reports.ts';
import { accessRoutes } from './access-routes.ts';

const HOUR_MS = 3_600_000;

let suite: SuiteDatabase;
let api: RunningApi;
let clients: ClientDirectory;
let refused: RefusedNetworkReport[];
let accessGraceEndMs: number | null;

/** Routes under test, on a machine with one network. */
const suiteRoutes: Rows = (parts) => {
  ({ clients } = parts);
  const access = new ActiveAccess({ ...parts, connected: () => ['198.51.100.2/24'] });
  const rows = () => ({ accessGraceEndMs });
  const reports = new AccessReports({ ...parts, access, rows, refused: () => refused });
  return [
    ...accessRoutes({
      ...parts,
      nodeAccess: {
        reports,
        state: { now: () => ({ warnings: ['one_address'], onlyAddress: '172.17.0.1' }) },
      },
    }),
    ...revisionRoutes({ ...parts, activateRestored: () => Promise.resolve() }),
  ];
};

serveSuite(suiteRoutes, (served) => ({ suite, api } = served), { perTest: true });

beforeEach(() => {
  refused = [];
  accessGraceEndMs = null;
});

const read = async (): Promise<RefusedClients> =>
  RefusedClients.parse((await api.send('GET', '/api/clients/refused')).body);
const allow = (...networks: string[]) => api.send('POST', '/api/clients/allowed', { json: { networks } });
const report = (network: string, lastClient: string, minutesAgo: number): RefusedNetworkReport => {
  const lastMs = api.clock.nowMs() - minutesAgo * 60_000;
  return { network, lastClient, firstMs: lastMs - HOUR_MS, lastMs, count: 12 };
};

describe('GET /clients/refused', () => {
  test('lists networks that may not query, the most recently refused one first', async () => {
    refused = [
      report('203.0.113.0/24', '203.0.113.7', 5),
      report('2001:db8:1::/56', '2001:db8:1::7', 1),
      // This network has become a network of this machine since the refusal.
      report('198.51.100.0/24', '198.51.100.7', 3),
    ];
    const { refused: listed, ...rest } = await read();
    expect(listed.map(({ network }) => network)).toEqual(['2001:db8:1::/56', '203.0.113.0/24']);
    expect(listed[1]).toEqual({
      network: '203.0.113.0/24',
      last_client: '203.0.113.7',
      first_refused: '2026-01-15T10:55:00.000Z',
      last_refused: '2026-01-15T11:55:00.000Z',
      count: 12,
      is_blocked: false,
    });
    expect(rest).toEqual({
      allowed_clients: ['private', 'connected'],
      warnings: ['one_address'],
      only_address: '172.17.0.1',
      announced: null,
    });
  });

  test('reports blocked networks as blocked, even if they are allowed', async () => {
    await api.parts.configuration.change(
      api.parts.policy,
      { name: 'test', address: null },
      { 'dns.blocked_clients': ['203.0.113.0/28', 'old-phone'] },
    );
    refused = [report('203.0.113.0/24', '203.0.113.7', 5), report('203.0.113.0/24', '203.0.113.17', 5)];
    expect((await read()).refused.map((one) => one.is_blocked)).toEqual([true, false]);
  });

  test('announces recent clients that will be refused, by network, with the name of the last client', async () => {
    const seen: [ip: string, hoursAgo: number, hostname: string | null][] = [
      ['203.0.113.7', 5, 'tablet'],
      ['203.0.113.8', 6, null],
      ['2001:db8:1:2::3', 7, null],
      ['192.168.1.7', 1, null],
      ['198.51.100.7', 1, null],
      ['192.0.2.1', 8 * 24, null],
    ];
    for (const [at, [ip, hoursAgo, hostname]] of seen.entries())
      clients.put({
        ...{ id: at + 1, ip, mac: null, key: null, addresses: [ip], site: '', hostname, name: null },
        ...{ groupId: null, deviceId: null, isAcknowledged: false, firstSeenMs: null, queryCount: 1 },
        ...{ excludeFromLog: false, excludeFromStats: false },
        lastSeenMs: api.clock.nowMs() - hoursAgo * HOUR_MS,
      });
    expect((await read()).announced).toBeNull();
    accessGraceEndMs = api.clock.nowMs() + HOUR_MS;
    expect((await read()).announced).toEqual({
      until: '2026-01-15T13:00:00.000Z',
      networks: [
        {
          network: '203.0.113.0/24',
          clients: 2,
          last_client: '203.0.113.7',
          name: 'tablet',
          last_seen: '2026-01-15T07:00:00.000Z',
        },
        {
          network: '2001:db8:1::/56',
          clients: 1,
          last_client: '2001:db8:1:2::3',
          name: null,
          last_seen: '2026-01-15T05:00:00.000Z',
        },
      ],
    });
    // The setting has been changed, so clients that it does not contain are refused from now on.
    expect((await allow('203.0.113.0/24')).status).toBe(200);
    expect((await read()).announced).toBeNull();
  });
});

describe('POST /clients/allowed', () => {
  test('adds networks to dns.allowed_clients in one revision, which can be undone', async () => {
    refused = [report('203.0.113.0/24', '203.0.113.7', 5)];
    const answer = await allow('203.0.113.7/24', '2001:DB8:1::/56');
    expect(answer.status).toBe(200);
    const expected = ['private', 'connected', '203.0.113.0/24', '2001:db8:1::/56'];
    expect(answer.body).toEqual({ allowed_clients: expected });
    expect(api.parts.configuration.current().dns.allowed_clients).toEqual(expected);
    expect((await read()).refused).toEqual([]);
    const { rows } = await suite.database.query('SELECT summary FROM revisions ORDER BY id DESC LIMIT 1');
    expect(rows).toEqual([{ summary: 'configuration dns.allowed_clients: changed' }]);
    expect(answer.headers['weir-revision']).toMatch(/^\d+$/);
  });

  test('keeps all entries of concurrent requests', async () => {
    const networks = ['192.0.2.0/28', '192.0.2.16/28', '192.0.2.32/28', '192.0.2.16/28'];
    const answers = await Promise.all(networks.map((network) => allow(network)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { allowed_clients: allowed } = api.parts.configuration.current().dns;
    expect(allowed).toHaveLength(5);
    expect(new Set(allowed)).toEqual(new Set(['private', 'connected', ...networks]));
  });

  test.each([
    ['any'],
    ['0.0.0.0/0'],
    ['::/0'],
    ['128.0.0.0/1'],
    ['2000::/3'],
    ['192.0.2.0/33'],
    ['02:00:5e:10:00:01'],
  ])('refuses %s, and changes nothing', async (network) => {
    expect((await allow('192.0.2.0/24', network)).status).toBe(400);
    expect(api.parts.configuration.current().dns.allowed_clients).toEqual(['private', 'connected']);
  });
});
