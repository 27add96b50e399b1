/** A node whose PostgreSQL fails over to a synchronous standby while it answers queries and receives changes. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ManagedDomainPage } from '../../../shared/api/policy/rules-api.ts';
import type { StatsSummary } from '../../../shared/api/stats-api.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { until } from '../../support/parts/until.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { NodesWithStandby } from '../../support/weir/nodes-with-standby.ts';
import type { ReplicatedDatabase } from '../../support/weir/replicated-database.ts';
import type { Weir } from '../../support/weir/weir-process.ts';

const LOCAL = 'here.home.example';
const POLL_MS = 100;

let nodes: NodesWithStandby;
let database: ReplicatedDatabase;
let weir: Weir;
let api: ApiClient;
let client: UdpClient;

beforeAll(async () => {
  nodes = await NodesWithStandby.open({ isSynchronous: true });
  ({ database } = nodes);
  weir = await nodes.start('node', { toml: `[dns]\nlocal_records = ["${LOCAL} A 192.0.2.20"]\n` });
  api = await weir.api();
  client = await UdpClient.open(weir.dnsPort);
});
afterAll(async () => {
  client.close();
  await nodes[Symbol.asyncDispose]();
});

describe('weir with a synchronous standby database', () => {
  test('loses no acknowledged change and no query in a failover, and log and statistics agree', async () => {
    const acknowledged: string[] = [];
    let asked = 0;
    /** Sends a query and a change; returns the status of the change's response. */
    const go = async (): Promise<number> => {
      expect((await client.ask(LOCAL, 'A')).data).toEqual(['192.0.2.20']);
      const domain = `change-${String(++asked)}.example`;
      const { status } = await api.call('POST', '/managed-domains', { domain, action: 'deny' });
      if (status === 201) acknowledged.push(domain);
      // The database is unreachable, or the connection was lost during the commit. In the second case, the change may
      // be stored.
      else expect(status).toBe(503);
      return status;
    };
    for (let times = 0; times < 10; times++) expect(await go()).toBe(201);
    const over = database.failOver();
    let isOver = false;
    void over.then(() => (isOver = true));
    while (!isOver) await go();
    await over;
    await until('a change to be acknowledged', go, (status) => status === 201, { pauseMs: POLL_MS });

    const { data } = await api.expect<ManagedDomainPage>(200, 'GET', '/managed-domains?limit=1000');
    const known = new Set(data.map(({ domain }) => domain));
    expect(acknowledged.filter((domain) => !known.has(domain))).toEqual([]);
    await api.untilQueryCount(asked);
    expect(await api.queryCount(`domain=${LOCAL}`)).toBe(asked);
    const { queries_total } = await api.expect<StatsSummary>(200, 'GET', '/stats?period=1h');
    expect(queries_total).toBe(asked);
    expect((await api.metrics()).sum('weir_query_log_dropped_rows_total')).toBe(0);
  });
});
