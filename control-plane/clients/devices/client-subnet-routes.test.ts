/**
 * Networks of clients over HTTP and in the database, and groups with their clients, which are assigned directly or by a
 * network.
 */
import { describe, expect, test } from '@jest/globals';
import { ClientPage, ClientSubnet, ClientSubnetList } from '../../../shared/api/policy/clients-api.ts';
import { GroupList } from '../../../shared/api/policy/groups-api.ts';
import { clientSuite, pathsOf } from '../../../test/support/parts/client-suite.ts';
import type { TestAnswer } from '../../../test/support/parts/running-api.ts';

const MAC = '02:00:5e:10:00:01';
const OTHER_MAC = '02:00:5e:10:00:02';

const clients = clientSuite();
const { get, post, move, createGroup, create, rows } = clients;

describe('client subnets over the API', () => {
  const createSubnet = (cidr: string, groupId = clients.kids): Promise<TestAnswer> =>
    post('/client-subnets', { subnet_cidr: cidr, group_id: groupId });

  test('are stored in canonical form, active, listed and deleted', async () => {
    const answer = await post('/client-subnets', {
      subnet_cidr: '2001:DB8::1/32',
      group_id: clients.kids,
      comment: 'upstairs',
    });
    expect(answer.status).toBe(201);
    const subnet = ClientSubnet.parse(answer.body);
    expect(subnet).toMatchObject({
      subnet_cidr: '2001:db8::/32',
      group_id: clients.kids,
      group_name: 'Kids',
      comment: 'upstairs',
    });
    expect(clients.api.policyChanges).toBe(1);
    await createSubnet('192.0.2.77/24', 1);
    const all = ClientSubnetList.parse((await get('/client-subnets')).body);
    expect(all.map(({ subnet_cidr: cidr }) => cidr)).toEqual(['192.0.2.0/24', '2001:db8::/32']);
    expect((await rows()).subnets).toEqual([
      { cidr: '2001:db8::/32', groupId: clients.kids },
      { cidr: '192.0.2.0/24', groupId: 1 },
    ]);
    expect((await clients.api.send('DELETE', `/api/client-subnets/${subnet.id}`)).status).toBe(204);
    expect((await clients.api.send('DELETE', `/api/client-subnets/${subnet.id}`)).status).toBe(404);
    expect((await rows()).subnets).toHaveLength(1);
  });

  test('that already exist are refused with 409, in every notation', async () => {
    await createSubnet('192.0.2.0/24');
    for (const cidr of ['192.0.2.0/24', '192.0.2.255/24', '::ffff:192.0.2.0/120'])
      expect((await createSubnet(cidr, 1)).status).toBe(409);
    expect((await createSubnet('192.0.2.0/25')).status).toBe(201);
  });

  test('with invalid fields are refused with 400, which names the field', async () => {
    for (const cidr of ['192.0.2.0/33', 'x', '', '2001:db8::/129', 24]) {
      const answer = await post('/client-subnets', { subnet_cidr: cidr, group_id: clients.kids });
      expect([answer.status, pathsOf(answer)]).toEqual([400, ['subnet_cidr']]);
    }
    const lost = await createSubnet('192.0.2.0/24', 4711);
    expect([lost.status, pathsOf(lost)]).toEqual([400, ['group_id']]);
  });

  test('apply by the longest prefix, and IPv6 subnets contain no IPv4 addresses', async () => {
    const guests = await createGroup('Guests');
    await createSubnet('192.0.2.0/24');
    await createSubnet('192.0.2.128/25', guests);
    await createSubnet('192.0.2.130', 1);
    await createSubnet('::/0', guests);
    const groupAt = async (ip: string): Promise<number> =>
      (await create({ ip_address: ip, name: ip })).group_id;
    expect(await groupAt('192.0.2.7')).toBe(clients.kids);
    expect(await groupAt('192.0.2.129')).toBe(guests);
    expect(await groupAt('192.0.2.130')).toBe(1);
    expect(await groupAt('198.51.100.1')).toBe(1);
    expect(await groupAt('2001:db8::1')).toBe(guests);
  });

  test('are restored by a rollback to a revision that contained them', async () => {
    await createSubnet('192.0.2.0/24');
    const [revision] = (await get('/revisions')).body as { id: number }[];
    const [subnet] = (await get('/client-subnets')).body as ClientSubnet[];
    await clients.api.send('DELETE', `/api/client-subnets/${subnet!.id}`);
    await createSubnet('198.51.100.0/24');
    expect((await clients.api.send('POST', `/api/revisions/${revision!.id}/rollback`)).status).toBe(200);
    expect((await get('/client-subnets')).body).toEqual([subnet]);
  });
});

describe('groups with clients', () => {
  test('count and list their clients, whether address, MAC or subnet assigned these to the group', async () => {
    await post('/client-subnets', { subnet_cidr: '192.0.2.0/24', group_id: clients.kids });
    const byMac = await create({ mac_address: MAC, group_id: clients.kids });
    const bySubnet = await create({ ip_address: '192.0.2.7', name: 'TV' });
    const elsewhere = await create({ mac_address: OTHER_MAC, name: 'Laptop' });
    const groups = GroupList.parse((await get('/groups')).body);
    expect(groups.map(({ id, client_count: count }) => [id, count])).toEqual([
      [1, 1],
      [clients.kids, 2],
    ]);
    const ids = async (id: number): Promise<number[]> =>
      ClientPage.parse((await get(`/groups/${id}/clients`)).body).data.map((client) => client.id);
    expect(await ids(clients.kids)).toEqual([byMac.id, bySubnet.id]);
    expect(await ids(1)).toEqual([elsewhere.id]);
    expect((await get('/groups/4711/clients')).status).toBe(404);
  });

  test('cannot be deleted while clients or subnets are assigned to them', async () => {
    const { id } = await create({ mac_address: MAC, group_id: clients.kids });
    const inUse = await clients.api.send('DELETE', `/api/groups/${clients.kids}`);
    expect([inUse.status, inUse.problem.error]).toEqual([409, 'conflict']);
    await move(id, null);
    const subnet = await post('/client-subnets', { subnet_cidr: '192.0.2.0/24', group_id: clients.kids });
    expect((await clients.api.send('DELETE', `/api/groups/${clients.kids}`)).status).toBe(409);
    await clients.api.send('DELETE', `/api/client-subnets/${ClientSubnet.parse(subnet.body).id}`);
    expect((await clients.api.send('DELETE', `/api/groups/${clients.kids}`)).status).toBe(204);
  });
});
