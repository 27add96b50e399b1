import { beforeEach, describe, expect, test } from '@jest/globals';
import { ResolverLookupList, SilentDeviceList } from '../../../../shared/api/policy/clients-api.ts';
import type { ResolverLookup } from '../../../../shared/api/policy/clients-api.ts';
import { QueryStatus } from '../../../../shared/query-log.ts';
import { logRow, wireName } from '../../../../test/support/parts/log-row.ts';
import type { RunningApi, Rows } from '../../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../../test/support/parts/served-suite.ts';
import { questionsOf, storeRows } from '../../../../test/support/parts/stored-log.ts';
import type { SuiteDatabase } from '../../../../test/support/parts/suite-database.ts';
import type { ClientDirectory } from '../client-directory.ts';
import { bypassRoutes } from './bypass-routes.ts';

const MAC = '02:00:5e:10:00:01';

let suite: SuiteDatabase;
let api: RunningApi;
let clients: ClientDirectory;

/** Routes under test. */
const suiteRoutes: Rows = (parts) => {
  clients = parts.clients;
  const log = questionsOf(parts.database, (address) => parts.clients.nameAt(address));
  const network = () => ({ neighbours: [{ address: '192.0.2.7', mac: MAC }], leases: [] });
  return bypassRoutes({ ...parts, stats: log, queryLog: log, network });
};

serveSuite(suiteRoutes, (served) => ({ suite, api } = served), { perTest: true });

describe('GET /clients/silent', () => {
  const silent = async (query = ''): Promise<unknown> =>
    SilentDeviceList.parse((await api.send('GET', `/api/clients/silent${query}`)).body);

  test('lists a device that sent no queries for the given number of hours', async () => {
    clients.see({ address: '192.0.2.7', queries: 1, lastSeenMs: api.clock.nowMs() - 3 * 3_600_000 });
    expect(await silent()).toEqual([]);
    expect(await silent('?hours=2')).toMatchObject([{ mac_address: MAC, ip_addresses: ['192.0.2.7'] }]);
    expect((await api.send('GET', '/api/clients/silent?hours=0')).status).toBe(400);
  });
});

describe('GET /clients/resolver-lookups', () => {
  let nowMs: number;
  const row = (name: string, lastByte: number, minutesAgo: number, change = {}) =>
    logRow({
      qname: wireName(name),
      client: Uint8Array.of(192, 0, 2, lastByte),
      timestampMs: nowMs - minutesAgo * 60_000,
      ...change,
    });
  const lookups = async (): Promise<ResolverLookup[]> =>
    ResolverLookupList.parse((await api.send('GET', '/api/clients/resolver-lookups')).body);

  beforeEach(() => {
    nowMs = api.clock.nowMs();
  });

  test('lists each client that looked up an encrypted resolver once, most recent first', async () => {
    await storeRows(suite.database, [
      row('dns.google', 7, 30),
      row('dns.google', 7, 20),
      row('my.dns.nextdns.io', 8, 10, { status: QueryStatus.BLOCKED_LIST }),
      row('xdns.google', 9, 5),
      row('www.example.org', 9, 5),
    ]);
    expect((await lookups()).map(({ client, resolver, status }) => [client, resolver, status])).toEqual([
      ['192.0.2.8', 'dns.nextdns.io', 'BLOCKED_LIST'],
      ['192.0.2.7', 'dns.google', 'CACHED'],
    ]);
    expect((await lookups())[1]!.last_asked).toBe(new Date(nowMs - 20 * 60_000).toISOString());
  });
});
