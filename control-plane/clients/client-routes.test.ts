/** Clients and their networks over HTTP and in the database. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { clientRoutes } from './client-routes.ts';
import { clientSubnetRoutes } from './client-subnet-routes.ts';
import { groupRoutes } from '../groups/group-routes.ts';
import { readPolicyRows } from '../policy/policy-store.ts';
import { queryRoutes } from '../query-log/reading/query-routes.ts';
import { revisionRoutes } from '../revisions/revision-routes.ts';
import { Client, ClientPage, ClientSubnet, ClientSubnetList } from '../../shared/api/policy/clients-api.ts';
import { Group, GroupList } from '../../shared/api/policy/groups-api.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { QueryStatus, type QueryStatusCode } from '../../shared/query-log.ts';
import type { RunningApi, Rows, TestAnswer } from '../../test/support/parts/running-api.ts';
import { serveSuite } from '../../test/support/parts/served-suite.ts';
import { logRow } from '../../test/support/parts/log-row.ts';
import { questionsOf, storeRows } from '../../test/support/parts/stored-log.ts';
import type { SuiteDatabase } from '../../test/support/parts/suite-database.ts';

const MAC = '02:00:5e:10:00:01';
const OTHER_MAC = '02:00:5e:10:00:02';

/** Rows of this suite. */
const suiteRoutes: Rows = (parts) => [
  ...clientRoutes({ ...parts, addressCounts: questionsOf(parts.database) }),
  ...clientSubnetRoutes(parts),
  ...groupRoutes(parts),
  ...revisionRoutes({ ...parts, bringBack: () => Promise.resolve() }),
  ...queryRoutes({
    ...parts,
    queryLog: questionsOf(parts.database, (address) => parts.clients.nameAt(address)),
  }),
];

let suite: SuiteDatabase;
let api: RunningApi;
let kids: number;

// Each test has a directory of its own, as what it knows outlives the rows.
serveSuite(suiteRoutes, (served) => ({ suite, api } = served), { perTest: true });
beforeEach(async () => {
  kids = await createGroup('Kids');
  api.policyChanges = 0;
});

const get = (path: string): Promise<TestAnswer> => api.send('GET', `/api${path}`);
const post = (path: string, json: unknown): Promise<TestAnswer> => api.send('POST', `/api${path}`, { json });
const patch = (id: number, json: unknown): Promise<TestAnswer> =>
  api.send('PATCH', `/api/clients/${id}`, { json });
const move = (id: number, groupId: number | null): Promise<TestAnswer> =>
  api.send('PUT', `/api/clients/${id}/group`, { json: { group_id: groupId } });

async function createGroup(name: string): Promise<number> {
  return Group.parse((await post('/groups', { name })).body).id;
}

async function create(json: unknown): Promise<Client> {
  const answer = await post('/clients', json);
  expect(answer.status).toBe(201);
  return Client.parse(answer.body);
}

async function list(query = ''): Promise<ClientPage> {
  return ClientPage.parse((await get(`/clients${query}`)).body);
}

const rows = () => readPolicyRows(suite.database, () => undefined);

function pathsOf(answer: TestAnswer): string[] {
  return [...new Set(answer.problem.errors!.map((fault) => fault.path))];
}

describe('clients', () => {
  test('are none at first', async () => {
    expect(await list()).toEqual({ data: [], total: 0, limit: 100, offset: 0 });
  });

  test('known by MAC are normalised, in force and shown whole', async () => {
    const client = await create({ mac_address: '02-00-5E-10-00-01', name: 'Phone', group_id: kids });
    expect(client).toEqual({
      id: client.id,
      ip_address: null,
      mac_address: MAC,
      client_key: null,
      hostname: null,
      name: 'Phone',
      group_id: kids,
      group_source: 'mac',
      first_seen: null,
      last_seen: null,
      query_count: 0,
    });
    expect(api.policyChanges).toBe(1);
    expect((await get(`/clients/${client.id}`)).body).toEqual(client);
    expect((await list()).data).toEqual([client]);
    expect(await rows()).toMatchObject({ clients: [], macClients: [{ mac: MAC, groupId: kids }] });
  });

  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['2001:DB8:0:0::7', '2001:db8::7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
  ])('known by address are normalised and in force: %s', async (given, address) => {
    const client = await create({ ip_address: given, group_id: kids });
    expect(client).toMatchObject({ ip_address: address, group_id: kids, group_source: 'manual' });
    expect(await rows()).toMatchObject({ clients: [{ address, groupId: kids }], macClients: [] });
  });

  test('with both are known by MAC, wherever they are', async () => {
    const client = await create({ ip_address: '192.0.2.7', mac_address: MAC, group_id: kids });
    expect(client).toMatchObject({ ip_address: '192.0.2.7', mac_address: MAC, group_source: 'mac' });
    expect((await rows()).clients).toEqual([]);
  });

  test('known by a key alone are folded, in force, found and changed', async () => {
    const client = await create({ client_key: 'Annas-Phone', group_id: kids });
    const shown = { ip_address: null, mac_address: null, client_key: 'annas-phone', group_source: 'manual' };
    expect(client).toMatchObject(shown);
    expect((await list('?search=S-PHO')).data).toEqual([client]);
    const keyed = { clientId: client.id, key: 'annas-phone', groupId: kids, name: null, mac: null };
    expect(await rows()).toMatchObject({ clients: [], macClients: [], keyedClients: [keyed] });
    expect((await patch(client.id, { name: 'Anna', mac_address: MAC, client_key: 'a' })).status).toBe(200);
    expect((await rows()).keyedClients).toEqual([{ ...keyed, key: 'a', name: 'Anna', mac: MAC }]);
    expect((await patch(client.id, { client_key: null })).body).toMatchObject({
      client_key: null,
      name: 'Anna',
    });
    expect((await rows()).keyedClients).toEqual([]);
  });

  test('have keys that no other client has, in whatever case', async () => {
    await create({ client_key: 'phone' });
    const { id } = await create({ ip_address: '192.0.2.8', name: 'TV' });
    const refused = [
      await post('/clients', { client_key: 'PHONE' }),
      await post('/clients', { ip_address: '192.0.2.9', client_key: 'Phone' }),
      await patch(id, { client_key: 'pHone' }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([409, 409, 409]);
  });

  test.each(['', 'a.b', '-a', 'a-', 'a_b', 'ä', 'a b', 'a'.repeat(64), 'a\u0000', 7])(
    'refuse the key %j',
    async (key) => {
      const answer = await post('/clients', { client_key: key });
      expect([answer.status, pathsOf(answer)]).toEqual([400, ['client_key']]);
    },
  );

  test('are moved by one call, and back to the group of their network', async () => {
    await post('/client-subnets', { subnet_cidr: '192.0.2.0/24', group_id: kids });
    const { id } = await create({ ip_address: '192.0.2.7', name: 'TV' });
    expect((await get(`/clients/${id}`)).body).toMatchObject({ group_id: kids, group_source: 'subnet' });
    const moved = await move(id, 1);
    expect([moved.status, moved.body]).toEqual([
      200,
      expect.objectContaining({ group_id: 1, group_source: 'manual' }),
    ]);
    expect((await rows()).clients).toEqual([{ address: '192.0.2.7', groupId: 1 }]);
    expect((await move(id, null)).body).toMatchObject({ group_id: kids, group_source: 'subnet' });
    expect((await rows()).clients).toEqual([]);
    expect(api.policyChanges).toBe(4);
  });

  test('keep the fields that a PATCH leaves out', async () => {
    const { id } = await create({ ip_address: '192.0.2.7', name: 'TV', group_id: kids });
    expect((await patch(id, { name: 'Television' })).body).toMatchObject({
      name: 'Television',
      ip_address: '192.0.2.7',
      group_id: kids,
    });
    expect((await patch(id, {})).body).toMatchObject({ name: 'Television', group_id: kids });
    expect((await patch(id, { mac_address: MAC })).body).toMatchObject({
      mac_address: MAC,
      ip_address: '192.0.2.7',
      group_source: 'mac',
    });
    expect((await patch(id, { name: null, ip_address: null })).body).toMatchObject({
      name: null,
      ip_address: null,
    });
    const bare = await patch(id, { mac_address: null });
    expect([bare.status, pathsOf(bare)]).toEqual([400, ['ip_address']]);
  });

  test('are deleted for good', async () => {
    const { id } = await create({ ip_address: '192.0.2.7', group_id: kids });
    const answer = await api.send('DELETE', `/api/clients/${id}`);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect((await rows()).clients).toEqual([]);
    for (const gone of [
      await get(`/clients/${id}`),
      await api.send('DELETE', `/api/clients/${id}`),
      await patch(id, {}),
      await move(id, 1),
    ])
      expect([gone.status, gone.problem.error]).toEqual([404, 'not_found']);
    expect((await list()).total).toBe(0);
  });

  test('with the same MAC or address are 409', async () => {
    await create({ mac_address: MAC, group_id: kids });
    await create({ ip_address: '192.0.2.7', name: 'TV' });
    const { id } = await create({ ip_address: '192.0.2.8', name: 'Radio' });
    for (const answer of [
      await post('/clients', { mac_address: '0200.5e10.0001', group_id: 1 }),
      await post('/clients', { ip_address: '::ffff:192.0.2.7', group_id: 1 }),
      await patch(id, { ip_address: '192.0.2.7' }),
      await patch(id, { mac_address: MAC }),
    ])
      expect([answer.status, answer.problem.error]).toEqual([409, 'conflict']);
    expect((await list()).total).toBe(3);
  });

  test('that are wrong are 400 and name every bad field', async () => {
    for (const [json, paths] of [
      [{}, ['ip_address']],
      [{ ip_address: null, mac_address: null }, ['ip_address']],
      [{ ip_address: '192.0.2.300' }, ['ip_address']],
      [{ ip_address: 'fe80::1%eth0' }, ['ip_address']],
      [{ ip_address: '192.0.2.0/24' }, ['ip_address']],
      [{ mac_address: '02:00:5e:10:00' }, ['mac_address']],
      [{ ip_address: 7, mac_address: MAC, group_id: 'x', name: ' ' }, ['ip_address', 'name', 'group_id']],
      [{ ip_address: '192.0.2.7', group_id: 4711 }, ['group_id']],
      [{ ip_address: '192.0.2.7', colour: 'red' }, ['colour']],
    ] as const) {
      const answer = await post('/clients', json);
      expect([answer.status, pathsOf(answer).toSorted()]).toEqual([400, paths.toSorted()]);
    }
    const { id } = await create({ ip_address: '192.0.2.7' });
    const lost = await move(id, 4711);
    expect([lost.status, pathsOf(lost)]).toEqual([400, ['group_id']]);
    expect((await api.send('PUT', `/api/clients/${id}/group`, { json: {} })).status).toBe(400);
  });

  test('are found by a part of what they are, and by group', async () => {
    await create({ mac_address: MAC, name: 'Phone of Zoë', group_id: kids });
    await create({ ip_address: '192.0.2.7', name: 'TV' });
    await create({ ip_address: '2001:db8::7', name: 'Printer', group_id: kids });
    const names = async (query: string): Promise<(string | null)[]> =>
      (await list(query)).data.map(({ name }) => name);
    expect(await names(`?search=${encodeURIComponent('ZOË')}`)).toEqual(['Phone of Zoë']);
    expect(await names('?search=5E:10')).toEqual(['Phone of Zoë']);
    expect(await names('?search=192.0.2')).toEqual(['TV']);
    expect(await names('?search=%25')).toEqual([]);
    expect(await names(`?group_id=${kids}`)).toEqual(['Phone of Zoë', 'Printer']);
    expect(await names('?group_source=manual')).toEqual(['Printer']);
    expect(await names('?limit=1&offset=1')).toEqual(['TV']);
    expect(await list('?limit=1&offset=9')).toMatchObject({ data: [], total: 3, limit: 1, offset: 9 });
    expect((await get('/clients?limit=0')).status).toBe(400);
  });

  test('that were only seen are taken over with what was seen', async () => {
    const seenMs = api.clock.nowMs();
    api.parts.clients.locate('192.0.2.7', MAC);
    await suite.database.query(
      `INSERT INTO clients (ip_address, mac_address, addresses, hostname, first_seen, last_seen, query_count)
       VALUES ('192.0.2.7', $1, '{192.0.2.7}', 'phone.home.arpa', $2, $2, 41)`,
      [MAC, new Date(seenMs)],
    );
    const client = await create({ mac_address: MAC, group_id: kids });
    expect(client).toMatchObject({
      hostname: 'phone.home.arpa',
      ip_address: '192.0.2.7',
      group_id: kids,
      query_count: 41,
      last_seen: new Date(seenMs).toISOString(),
    });
    expect((await list()).total).toBe(1);
  });
});

describe('client subnets', () => {
  const createSubnet = (cidr: string, groupId = kids): Promise<TestAnswer> =>
    post('/client-subnets', { subnet_cidr: cidr, group_id: groupId });

  test('are canonical, in force, listed and deleted', async () => {
    const answer = await post('/client-subnets', {
      subnet_cidr: '2001:DB8::1/32',
      group_id: kids,
      comment: 'upstairs',
    });
    expect(answer.status).toBe(201);
    const subnet = ClientSubnet.parse(answer.body);
    expect(subnet).toMatchObject({
      subnet_cidr: '2001:db8::/32',
      group_id: kids,
      group_name: 'Kids',
      comment: 'upstairs',
    });
    expect(api.policyChanges).toBe(1);
    await createSubnet('192.0.2.77/24', 1);
    const all = ClientSubnetList.parse((await get('/client-subnets')).body);
    expect(all.map(({ subnet_cidr: cidr }) => cidr)).toEqual(['192.0.2.0/24', '2001:db8::/32']);
    expect((await rows()).subnets).toEqual([
      { cidr: '2001:db8::/32', groupId: kids },
      { cidr: '192.0.2.0/24', groupId: 1 },
    ]);
    expect((await api.send('DELETE', `/api/client-subnets/${subnet.id}`)).status).toBe(204);
    expect((await api.send('DELETE', `/api/client-subnets/${subnet.id}`)).status).toBe(404);
    expect((await rows()).subnets).toHaveLength(1);
  });

  test('that are there already are 409, however they are written', async () => {
    await createSubnet('192.0.2.0/24');
    for (const cidr of ['192.0.2.0/24', '192.0.2.255/24', '::ffff:192.0.2.0/120'])
      expect((await createSubnet(cidr, 1)).status).toBe(409);
    expect((await createSubnet('192.0.2.0/25')).status).toBe(201);
  });

  test('that are wrong are 400 and name the field', async () => {
    for (const cidr of ['192.0.2.0/33', 'x', '', '2001:db8::/129', 24]) {
      const answer = await post('/client-subnets', { subnet_cidr: cidr, group_id: kids });
      expect([answer.status, pathsOf(answer)]).toEqual([400, ['subnet_cidr']]);
    }
    const lost = await createSubnet('192.0.2.0/24', 4711);
    expect([lost.status, pathsOf(lost)]).toEqual([400, ['group_id']]);
  });

  test('the longest prefix counts, and IPv6 networks hold no IPv4', async () => {
    const guests = await createGroup('Guests');
    await createSubnet('192.0.2.0/24');
    await createSubnet('192.0.2.128/25', guests);
    await createSubnet('192.0.2.130', 1);
    await createSubnet('::/0', guests);
    const groupAt = async (ip: string): Promise<number> =>
      (await create({ ip_address: ip, name: ip })).group_id;
    expect(await groupAt('192.0.2.7')).toBe(kids);
    expect(await groupAt('192.0.2.129')).toBe(guests);
    expect(await groupAt('192.0.2.130')).toBe(1);
    expect(await groupAt('198.51.100.1')).toBe(1);
    expect(await groupAt('2001:db8::1')).toBe(guests);
  });

  test('come back with the revision that had them', async () => {
    await createSubnet('192.0.2.0/24');
    const [revision] = (await get('/revisions')).body as { id: number }[];
    const [subnet] = (await get('/client-subnets')).body as ClientSubnet[];
    await api.send('DELETE', `/api/client-subnets/${subnet!.id}`);
    await createSubnet('198.51.100.0/24');
    expect((await api.send('POST', `/api/revisions/${revision!.id}/rollback`)).status).toBe(200);
    expect((await get('/client-subnets')).body).toEqual([subnet]);
  });
});

describe('groups with clients', () => {
  test('count and list them, for whatever reason they are in it', async () => {
    await post('/client-subnets', { subnet_cidr: '192.0.2.0/24', group_id: kids });
    const byMac = await create({ mac_address: MAC, group_id: kids });
    const bySubnet = await create({ ip_address: '192.0.2.7', name: 'TV' });
    const elsewhere = await create({ mac_address: OTHER_MAC, name: 'Laptop' });
    const groups = GroupList.parse((await get('/groups')).body);
    expect(groups.map(({ id, client_count: count }) => [id, count])).toEqual([
      [1, 1],
      [kids, 2],
    ]);
    const ids = async (id: number): Promise<number[]> =>
      ClientPage.parse((await get(`/groups/${id}/clients`)).body).data.map((client) => client.id);
    expect(await ids(kids)).toEqual([byMac.id, bySubnet.id]);
    expect(await ids(1)).toEqual([elsewhere.id]);
    expect((await get('/groups/4711/clients')).status).toBe(404);
  });

  test('cannot be deleted while clients or networks are given to them', async () => {
    const { id } = await create({ mac_address: MAC, group_id: kids });
    const inUse = await api.send('DELETE', `/api/groups/${kids}`);
    expect([inUse.status, inUse.problem.error]).toEqual([409, 'conflict']);
    await move(id, null);
    const subnet = await post('/client-subnets', { subnet_cidr: '192.0.2.0/24', group_id: kids });
    expect((await api.send('DELETE', `/api/groups/${kids}`)).status).toBe(409);
    await api.send('DELETE', `/api/client-subnets/${ClientSubnet.parse(subnet.body).id}`);
    expect((await api.send('DELETE', `/api/groups/${kids}`)).status).toBe(204);
  });
});

describe('client statistics', () => {
  test('count the queries of a client at all of its addresses', async () => {
    const { id } = await create({ mac_address: MAC, name: 'Phone', group_id: kids });
    api.parts.clients.locate('192.0.2.7', MAC);
    api.parts.clients.locate('2001:db8::7', MAC);
    await logQueries([
      ['192.0.2.7', 0],
      ['2001:db8::7', 0],
      ['2001:db8::7', QueryStatus.BLOCKED_LIST],
      ['198.51.100.1', 0],
    ]);
    expect((await get('/clients/stats')).body).toEqual([
      expect.objectContaining({ id, name: 'Phone', queries_total: 3, queries_blocked: 1, block_rate: 33.33 }),
    ]);
    expect((await get('/clients/stats?period=1m')).body).toHaveLength(1);
    expect((await get('/clients/stats?period=1x')).status).toBe(400);
  });

  test('the query log names the client of an address', async () => {
    await create({ mac_address: MAC, name: 'Phone' });
    api.parts.clients.locate('192.0.2.7', MAC);
    await logQueries([
      ['192.0.2.7', 0],
      ['198.51.100.1', 0],
    ]);
    const { data } = (await get('/queries')).body as {
      data: { client: string; client_hostname: string | null }[];
    };
    expect(new Map(data.map((row) => [row.client, row.client_hostname]))).toEqual(
      new Map([
        ['192.0.2.7', 'Phone'],
        ['198.51.100.1', null],
      ]),
    );
  });
});

/** Writes queries of the last minute: their client and their status. */
async function logQueries(queries: readonly (readonly [string, QueryStatusCode])[]): Promise<void> {
  const atMs = api.clock.nowMs() - 30_000;
  await storeRows(
    suite.database,
    queries.map(([client, status]) =>
      logRow({ timestampMs: atMs, client: addressFromText(client)!, status }),
    ),
  );
}
