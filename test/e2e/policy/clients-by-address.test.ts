/** Clients on the loopback, which are known by address. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Client, ClientPage } from '../../../shared/api/policy/clients-api.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { until } from '../../support/parts/until.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const BLOCKED = '0.0.0.0';
const NAME = 'game.example.com';

let upstream: ScriptedUpstream;
let weir: Weir;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
  weir = await Weir.start({ upstreams: [`127.0.0.1:${String(upstream.port)}`] });
});
afterAll(async () => {
  await weir.stop();
  await upstream.close();
});

/** A group that is refused NAME. */
async function createStrictGroup(api: ApiClient): Promise<number> {
  const { id } = await api.createGroup('Kids');
  await api.expect(201, 'POST', '/managed-domains', { domain: NAME, action: 'deny', group_id: id });
  return id;
}

async function clientsOf(api: ApiClient): Promise<Client[]> {
  return (await api.expect<ClientPage>(200, 'GET', '/clients')).data;
}

/** The client that is wanted, once it was written. */
async function clientOnce(api: ApiClient, isWanted: (client: Client) => boolean): Promise<Client> {
  const isThere = (clients: readonly Client[]): boolean => clients.some(isWanted);
  const clients = await until('a client to be stored', () => clientsOf(api), isThere, { pauseMs: 100 });
  return clients.find(isWanted)!;
}

describe('weir with clients on the loopback', () => {
  test('weir knows who asked by address, and moves a client with one call', async () => {
    const api = await weir.api();
    const groupId = await createStrictGroup(api);
    using udp = await UdpClient.open(weir.dnsPort);
    expect((await udp.ask(NAME, 'A')).data).toEqual([EVERY_ADDRESS]);
    const client = await clientOnce(api, () => true);
    expect(client).toMatchObject({
      ip_address: '127.0.0.1',
      mac_address: null,
      group_id: 1,
      group_source: 'default',
      query_count: 1,
    });
    await api.expect(200, 'PUT', `/clients/${String(client.id)}/group`, { group_id: groupId });
    expect((await udp.ask(NAME, 'A')).data).toEqual([BLOCKED]);
    await api.expect(200, 'PUT', `/clients/${String(client.id)}/group`, { group_id: null });
    expect((await udp.ask(NAME, 'A')).data).toEqual([EVERY_ADDRESS]);
  });

  test('weir writes what it has seen when it stops, and knows it when it starts again', async () => {
    using udp = await UdpClient.open(weir.dnsPort);
    for (let i = 0; i < 3; i++) await udp.ask(NAME, 'A');
    await weir.end('SIGTERM');
    const upstreams = [`127.0.0.1:${String(upstream.port)}`];
    await using second = await Weir.start({ room: weir.room, upstreams });
    // With those of the test before.
    expect(await clientsOf(await second.api())).toMatchObject([
      { ip_address: '127.0.0.1', query_count: 3 + 3 },
    ]);
  });
});
