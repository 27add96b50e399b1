/**
 * Clients whose queries are excluded from the log, from statistics, or from both, in all views and counts of queries.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { StatsSummary, TopClients } from '../../../shared/api/stats-api.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { clientOnce } from '../../support/weir/stored-clients.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const PLAIN = '127.0.6.1';
const UNLOGGED = '127.0.6.2';
const UNCOUNTED = '127.0.6.3';
const NEITHER = '127.0.6.4';
const EXCLUDED = {
  [UNLOGGED]: { exclude_from_log: true },
  [UNCOUNTED]: { exclude_from_stats: true },
  [NEITHER]: { exclude_from_log: true, exclude_from_stats: true },
};

let upstream: ScriptedUpstream;
let weir: Weir;
let api: ApiClient;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
  weir = await Weir.start({ upstreams: [`127.0.0.1:${String(upstream.port)}`] });
  api = await weir.api();
});
afterAll(async () => {
  await weir.stop();
  await upstream.close();
});

async function ask(address: string, ...names: string[]): Promise<void> {
  using udp = await UdpClient.open(weir.dnsPort, '127.0.0.1', address);
  for (const name of names) await udp.ask(name, 'A');
}

const topClients = async (period: string): Promise<Record<string, number>> => {
  const clients = await api.expect<TopClients>(200, 'GET', `/stats/top_clients?period=${period}`);
  return Object.fromEntries(clients.map(({ ip, count }) => [ip, count]));
};

describe('weir with clients that are excluded from log or statistics', () => {
  test('leaves out their queries, whether forwarded, cached or blocked, until the exclusion ends', async () => {
    for (const [address, exclusion] of Object.entries(EXCLUDED))
      await api.expect(201, 'POST', '/clients', { ip_address: address, ...exclusion });
    await api.expect(201, 'POST', '/managed-domains', { domain: 'blocked.example', action: 'deny' });
    for (const address of [PLAIN, ...Object.keys(EXCLUDED)])
      await ask(address, `of-${address}.example`, `of-${address}.example`, 'blocked.example');
    await api.untilQueryCount(3, `client=${PLAIN}`);
    await api.untilQueryCount(3, `client=${UNCOUNTED}`);
    expect(await api.queryCount()).toBe(6);
    expect(await api.exportedQueries('')).toBe(6);
    expect(await topClients('24h')).toEqual({ [PLAIN]: 3, [UNLOGGED]: 3 });
    const stats = await api.expect<StatsSummary>(200, 'GET', '/stats?period=24h');
    expect(stats).toMatchObject({
      ...{ queries_total: 6, queries_blocked: 2, clients: 2, unique_domains: 3 },
      ...{ queries_not_logged: 3, queries_not_counted: 3 },
    });
    const metrics = await api.metrics();
    expect(metrics.sum('weir_dns_queries_total')).toBe(12);
    const excluded = ['log', 'statistics', 'both'].map((from) =>
      metrics.sum('weir_dns_excluded_total', { from }),
    );
    expect(excluded).toEqual([3, 3, 3]);

    const seen = await clientOnce(api, (one) => one.ip_address === UNCOUNTED && one.last_seen !== null);
    expect(seen).toMatchObject({ query_count: 0, exclude_from_stats: true });
    const { id } = await clientOnce(api, (one) => one.ip_address === NEITHER);
    await api.expect(200, 'PATCH', `/clients/${String(id)}`, {
      exclude_from_log: false,
      exclude_from_stats: false,
    });
    await ask(NEITHER, 'included.example');
    await api.untilQueryCount(1, 'domain=included.example');
    expect(await topClients('23h')).toEqual({ [PLAIN]: 3, [UNLOGGED]: 3, [NEITHER]: 1 });
  });
});
