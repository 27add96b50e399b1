/**
 * Clients that are identified by MAC, on a real network: they keep their group when their IPv4 or IPv6 address changes.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../../support/parts/until.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { holdNetwork } from '../../support/weir/machine-network.ts';
import { NetworkDevice } from '../../support/weir/network-device.ts';
import { STRICT_NAME, clientOnce, clientsOf, createStrictGroup } from '../../support/weir/stored-clients.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const MAC = '02:00:5e:10:00:01';
const OTHER_MAC = '02:00:5e:10:00:02';
const SERVER = { ipv4: '198.51.100.1', ipv6: '2001:db8:51::1' } as const;
/** IPv6 address of this machine after the provider has assigned a new prefix. */
const NEXT_IPV6 = '2001:db8:52::1';
const OWN_ADDRESSES = [`${SERVER.ipv4}/24`, `${SERVER.ipv6}/64`, `${NEXT_IPV6}/64`];
const BLOCKED = '0.0.0.0';

const releaseNetwork = await holdNetwork('alone');
afterAll(releaseNetwork);

describe('weir with a client that changes its addresses', () => {
  const stack = new AsyncDisposableStack();
  let device: NetworkDevice;
  let weir: Weir;
  let api: ApiClient;
  beforeAll(async () => {
    device = stack.use(NetworkDevice.make(MAC, OWN_ADDRESSES));
    device.setAddress('198.51.100.2/24');
    device.setAddress('2001:db8:51::2/64');
    const upstream = stack.use(await startEchoingUpstream());
    const addresses = ['127.0.0.1', SERVER.ipv4, SERVER.ipv6, NEXT_IPV6];
    weir = stack.use(await Weir.start({ addresses, upstreams: [`127.0.0.1:${upstream.port}`] }));
    api = await weir.api();
  });
  afterAll(() => stack.disposeAsync());

  const askUntil = (address: string, wanted: string): Promise<number> =>
    device.askUntil({ address, port: weir.dnsPort }, STRICT_NAME, wanted);

  test('assigns a client its group by MAC, at each of its IPv4 and IPv6 addresses', async () => {
    const groupId = await createStrictGroup(api);
    // A node that has just started answers other machines only once it is ready, so the query is repeated.
    await askUntil(SERVER.ipv4, EVERY_ADDRESS);
    const client = await clientOnce(api, ({ mac_address: mac }) => mac === MAC);
    await api.expect(200, 'PUT', `/clients/${String(client.id)}/group`, { group_id: groupId });
    // The group is active when the response arrives.
    expect(await askUntil(SERVER.ipv4, BLOCKED)).toBe(1);

    device.setAddress('198.51.100.3/24');
    await askUntil(SERVER.ipv4, BLOCKED);
    await askUntil(SERVER.ipv6, BLOCKED);
    device.setAddress('2001:db8:51::3/64');
    await askUntil(SERVER.ipv6, BLOCKED);

    const clients = await until(
      'the new address of the client',
      async () => {
        // Sends another query, because times of last use are stored in whole seconds.
        await askUntil(SERVER.ipv6, BLOCKED);
        return clientsOf(api);
      },
      ([first]) => first?.ip_address === '2001:db8:51::3',
      { pauseMs: 100 },
    );
    expect(clients).toMatchObject([
      { id: client.id, mac_address: MAC, group_id: groupId, group_source: 'mac' },
    ]);
    // Other devices are not affected.
    using udp = await UdpClient.open(weir.dnsPort);
    expect((await udp.ask(STRICT_NAME, 'A')).data).toEqual([EVERY_ADDRESS]);
  });

  test('filters the first query of a client from each new address, even from a different IPv6 prefix', async () => {
    const [before] = await clientsOf(api);
    const moves = [
      { address: '198.51.100.4/24', server: SERVER.ipv4 },
      { address: '2001:db8:51:0:5c1d:9a40:7be2:11f6/64', server: SERVER.ipv6 },
      { address: '2001:db8:52:0:c8f0:3e77:65a1:d20b/64', server: NEXT_IPV6 },
    ];
    for (const { address, server } of moves) {
      device.setAddress(address);
      // Like a joining device, the device first looks for the server, which then learns the device's MAC address.
      device.clearNeighbours();
      expect(await askUntil(server, BLOCKED)).toBe(1);
    }
    const after = await until(
      'the address under the next prefix',
      async () => {
        await askUntil(NEXT_IPV6, BLOCKED);
        return clientsOf(api);
      },
      ([client]) => client?.ip_address?.startsWith('2001:db8:52:') === true,
      { pauseMs: 100 },
    );
    // The client with address 127.0.0.1 is this machine.
    const others = after.filter(({ ip_address: address }) => address !== '127.0.0.1');
    expect(others).toMatchObject([{ id: before!.id, mac_address: MAC, group_source: 'mac' }]);
  });

  test('does not give the group to another device that takes over the address', async () => {
    device.setMac(OTHER_MAC);
    device.setAddress('198.51.100.3/24');
    await askUntil(SERVER.ipv4, EVERY_ADDRESS);
    const other = await clientOnce(api, ({ mac_address: mac }) => mac === OTHER_MAC);
    expect(other).toMatchObject({ ip_address: '198.51.100.3', group_id: 1 });
  });
});
