/** Clients over HTTP and in the database, with their data from the query log. */
import { describe, expect, test } from '@jest/globals';
import { ClientPage } from '../../../shared/api/policy/clients-api.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import { Exclusion, QueryStatus, type QueryStatusCode } from '../../../shared/query-log.ts';
import { clientSuite, pathsOf } from '../../../test/support/parts/client-suite.ts';
import type { TestAnswer } from '../../../test/support/parts/running-api.ts';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { storeRows } from '../../../test/support/parts/stored-log.ts';

const MAC = '02:00:5e:10:00:01';

const clients = clientSuite();
const { get, post, move, create, rows } = clients;

const patch = (id: number, json: unknown): Promise<TestAnswer> =>
  clients.api.send('PATCH', `/api/clients/${id}`, { json });

async function list(query = ''): Promise<ClientPage> {
  return ClientPage.parse((await get(`/clients${query}`)).body);
}

describe('clients over the API', () => {
  test('are an empty page at first', async () => {
    expect(await list()).toEqual({ data: [], total: 0, limit: 100, offset: 0 });
  });

  test('identified by MAC are normalised, active and returned with all fields', async () => {
    const client = await create({ mac_address: '02-00-5E-10-00-01', name: 'Phone', group_id: clients.kids });
    expect(client).toEqual({
      id: client.id,
      ip_address: null,
      mac_address: MAC,
      vendor: null,
      private_address: true,
      client_key: null,
      hostname: null,
      name: 'Phone',
      group_id: clients.kids,
      group_source: 'mac',
      first_seen: null,
      last_seen: null,
      query_count: 0,
      exclude_from_log: false,
      exclude_from_stats: false,
      is_new: false,
      merged_into: null,
      merged: [],
    });
    expect(clients.api.policyChanges).toBe(1);
    expect((await get(`/clients/${client.id}`)).body).toEqual(client);
    expect((await list()).data).toEqual([client]);
    expect(await rows()).toMatchObject({ clients: [], macClients: [{ mac: MAC, groupId: clients.kids }] });
  });

  test('have the vendor of their MAC, and are found by the name of this vendor', async () => {
    const pi = await create({ mac_address: 'B8-27-EB-00-00-01' });
    expect(pi).toMatchObject({ vendor: 'Raspberry Pi Foundation', private_address: false });
    const unregistered = await create({ mac_address: 'fc:ff:ff:ff:ff:ff' });
    expect(unregistered).toMatchObject({ vendor: null, private_address: false });
    const byAddress = await create({ ip_address: '192.0.2.7', name: 'Raspberry red' });
    expect(byAddress).toMatchObject({ vendor: null, private_address: false });
    expect((await list('?search=raspberry%20pi')).data).toEqual([pi]);
    expect((await patch(pi.id, { vendor: 'Mine' })).body).toEqual(pi);
  });

  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['2001:DB8:0:0::7', '2001:db8::7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
  ])('identified by address are normalised and active: %s', async (given, address) => {
    const client = await create({ ip_address: given, group_id: clients.kids });
    expect(client).toMatchObject({ ip_address: address, group_id: clients.kids, group_source: 'manual' });
    expect(await rows()).toMatchObject({ clients: [{ address, groupId: clients.kids }], macClients: [] });
  });

  test('with MAC and address are identified by MAC, whatever their address', async () => {
    const client = await create({ ip_address: '192.0.2.7', mac_address: MAC, group_id: clients.kids });
    expect(client).toMatchObject({ ip_address: '192.0.2.7', mac_address: MAC, group_source: 'mac' });
    expect((await rows()).clients).toEqual([]);
  });

  test('are excluded from the log and from statistics by MAC, address or key, and included again', async () => {
    const byMac = await create({ mac_address: MAC, exclude_from_log: true });
    const byKey = await create({ client_key: 'phone', exclude_from_log: true, exclude_from_stats: true });
    await create({ ip_address: '192.0.2.7', exclude_from_stats: true });
    expect(await rows()).toMatchObject({
      excludedClients: [
        { mac: MAC, address: null, exclusion: Exclusion.LOG },
        { mac: null, address: '192.0.2.7', exclusion: Exclusion.STATS },
      ],
      keyedClients: [{ key: 'phone', exclusion: Exclusion.BOTH }],
    });
    const { body } = await patch(byMac.id, { exclude_from_log: false });
    expect(body).toMatchObject({ exclude_from_log: false, exclude_from_stats: false });
    await patch(byKey.id, { exclude_from_log: false });
    expect(await rows()).toMatchObject({
      excludedClients: [{ mac: null, address: '192.0.2.7' }],
      keyedClients: [{ key: 'phone', exclusion: Exclusion.STATS }],
    });
  });

  test('identified only by a key are stored in lower case, active, found and changed', async () => {
    const client = await create({ client_key: 'Annas-Phone', group_id: clients.kids });
    const shown = { ip_address: null, mac_address: null, client_key: 'annas-phone', group_source: 'manual' };
    expect(client).toMatchObject(shown);
    expect((await list('?search=S-PHO')).data).toEqual([client]);
    const known = { clientId: client.id, key: 'annas-phone', groupId: clients.kids, name: null, mac: null };
    const keyed = { ...known, exclusion: Exclusion.NONE };
    expect(await rows()).toMatchObject({ clients: [], macClients: [], keyedClients: [keyed] });
    expect((await patch(client.id, { name: 'Anna', mac_address: MAC, client_key: 'a' })).status).toBe(200);
    expect((await rows()).keyedClients).toEqual([{ ...keyed, key: 'a', name: 'Anna', mac: MAC }]);
    expect((await patch(client.id, { client_key: null })).body).toMatchObject({
      client_key: null,
      name: 'Anna',
    });
    expect((await rows()).keyedClients).toEqual([]);
  });

  test('have unique keys, ignoring case', async () => {
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

  test('are moved to another group by one request, and back to the group of their network', async () => {
    await post('/client-subnets', { subnet_cidr: '192.0.2.0/24', group_id: clients.kids });
    const { id } = await create({ ip_address: '192.0.2.7', name: 'TV' });
    expect((await get(`/clients/${id}`)).body).toMatchObject({
      group_id: clients.kids,
      group_source: 'subnet',
    });
    const moved = await move(id, 1);
    expect([moved.status, moved.body]).toEqual([
      200,
      expect.objectContaining({ group_id: 1, group_source: 'manual' }),
    ]);
    expect((await rows()).clients).toEqual([{ address: '192.0.2.7', groupId: 1 }]);
    expect((await move(id, null)).body).toMatchObject({ group_id: clients.kids, group_source: 'subnet' });
    expect((await rows()).clients).toEqual([]);
    expect(clients.api.policyChanges).toBe(4);
  });

  test('keep the fields that a PATCH leaves out', async () => {
    const { id } = await create({ ip_address: '192.0.2.7', name: 'TV', group_id: clients.kids });
    expect((await patch(id, { name: 'Television' })).body).toMatchObject({
      name: 'Television',
      ip_address: '192.0.2.7',
      group_id: clients.kids,
    });
    expect((await patch(id, {})).body).toMatchObject({ name: 'Television', group_id: clients.kids });
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

  test('are deleted permanently', async () => {
    const { id } = await create({ ip_address: '192.0.2.7', group_id: clients.kids });
    const answer = await clients.api.send('DELETE', `/api/clients/${id}`);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect((await rows()).clients).toEqual([]);
    for (const gone of [
      await get(`/clients/${id}`),
      await clients.api.send('DELETE', `/api/clients/${id}`),
      await patch(id, {}),
      await move(id, 1),
    ])
      expect([gone.status, gone.problem.error]).toEqual([404, 'not_found']);
    expect((await list()).total).toBe(0);
  });

  test('with the same MAC or address are refused with 409', async () => {
    await create({ mac_address: MAC, group_id: clients.kids });
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

  test('with invalid fields are refused with 400, which names each of these fields', async () => {
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
    expect((await clients.api.send('PUT', `/api/clients/${id}/group`, { json: {} })).status).toBe(400);
  });

  test('are found by a part of their identifiers, and by group', async () => {
    await create({ mac_address: MAC, name: 'Phone of Zoë', group_id: clients.kids });
    await create({ ip_address: '192.0.2.7', name: 'TV' });
    await create({ ip_address: '2001:db8::7', name: 'Printer', group_id: clients.kids });
    const names = async (query: string): Promise<(string | null)[]> =>
      (await list(query)).data.map(({ name }) => name);
    expect(await names(`?search=${encodeURIComponent('ZOË')}`)).toEqual(['Phone of Zoë']);
    expect(await names('?search=5E:10')).toEqual(['Phone of Zoë']);
    expect(await names('?search=192.0.2')).toEqual(['TV']);
    expect(await names('?search=%25')).toEqual([]);
    expect(await names(`?group_id=${clients.kids}`)).toEqual(['Phone of Zoë', 'Printer']);
    expect(await names('?group_source=Manual')).toEqual(['Printer']);
    expect(await names('?limit=1&offset=1')).toEqual(['TV']);
    expect(await list('?limit=1&offset=9')).toMatchObject({ data: [], total: 3, limit: 1, offset: 9 });
    expect((await get('/clients?limit=0')).status).toBe(400);
  });

  test('that were only observed keep the observed data when they get settings', async () => {
    const seenMs = clients.api.clock.nowMs();
    clients.api.parts.clients.locate('192.0.2.7', MAC);
    await clients.suite.database.query(
      `INSERT INTO clients (ip_address, mac_address, addresses, hostname, first_seen, last_seen, query_count)
       VALUES ('192.0.2.7', $1, '{192.0.2.7}', 'phone.home.arpa', $2, $2, 41)`,
      [MAC, new Date(seenMs)],
    );
    const client = await create({ mac_address: MAC, group_id: clients.kids });
    expect(client).toMatchObject({
      hostname: 'phone.home.arpa',
      ip_address: '192.0.2.7',
      group_id: clients.kids,
      query_count: 41,
      last_seen: new Date(seenMs).toISOString(),
    });
    expect((await list()).total).toBe(1);
  });
});

describe('client statistics', () => {
  test('include the queries of a client from all of its addresses', async () => {
    const { id } = await create({ mac_address: MAC, name: 'Phone', group_id: clients.kids });
    clients.api.parts.clients.locate('192.0.2.7', MAC);
    clients.api.parts.clients.locate('2001:db8::7', MAC);
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

  test('use the same client name as the query log', async () => {
    await create({ mac_address: MAC, name: 'Phone' });
    clients.api.parts.clients.locate('192.0.2.7', MAC);
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

/** Logs queries of the last minute, each with a client and a status. */
async function logQueries(queries: readonly (readonly [string, QueryStatusCode])[]): Promise<void> {
  const atMs = clients.api.clock.nowMs() - 30_000;
  await storeRows(
    clients.suite.database,
    queries.map(([client, status]) =>
      logRow({ timestampMs: atMs, client: addressFromText(client)!, status }),
    ),
  );
}
