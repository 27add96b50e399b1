/** Clients with loopback addresses, which are identified by their addresses. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { STRICT_NAME, clientOnce, clientsOf, createStrictGroup } from '../../support/weir/stored-clients.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const BLOCKED = '0.0.0.0';

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

describe('weir with clients on the loopback interface', () => {
  test('identifies clients by address, and moves a client to another group with one API call', async () => {
    const api = await weir.api();
    const groupId = await createStrictGroup(api);
    using udp = await UdpClient.open(weir.dnsPort);
    expect((await udp.ask(STRICT_NAME, 'A')).data).toEqual([EVERY_ADDRESS]);
    const client = await clientOnce(api, () => true);
    expect(client).toMatchObject({
      ip_address: '127.0.0.1',
      mac_address: null,
      group_id: 1,
      group_source: 'default',
      query_count: 1,
    });
    await api.expect(200, 'PUT', `/clients/${String(client.id)}/group`, { group_id: groupId });
    expect((await udp.ask(STRICT_NAME, 'A')).data).toEqual([BLOCKED]);
    await api.expect(200, 'PUT', `/clients/${String(client.id)}/group`, { group_id: null });
    expect((await udp.ask(STRICT_NAME, 'A')).data).toEqual([EVERY_ADDRESS]);
  });

  test('stores the clients it has seen when it stops, and loads them when it restarts', async () => {
    using udp = await UdpClient.open(weir.dnsPort);
    for (let i = 0; i < 3; i++) await udp.ask(STRICT_NAME, 'A');
    await weir.end('SIGTERM');
    const upstreams = [`127.0.0.1:${String(upstream.port)}`];
    await using second = await Weir.start({ tempDir: weir.tempDir, upstreams });
    // A node answers API requests before it has loaded the clients.
    const client = await clientOnce(await second.api(), () => true);
    // Includes the queries of the previous test.
    expect(client).toMatchObject({ ip_address: '127.0.0.1', query_count: 3 + 3 });
    expect(await clientsOf(await second.api())).toHaveLength(1);
  });
});
