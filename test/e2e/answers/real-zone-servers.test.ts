/**
 * Forward zones with third-party servers: the router of a local network, and an authority.
 *
 * @needs dnsmasq-base nsd
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Rcode } from '../../../shared/dns/iana.ts';
import { startDnsmasq, startNsd } from '../../support/dns/authority.ts';
import type { RunningServer } from '../../support/dns/authority.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { BACK_ENDS, Weir } from '../../support/weir/weir-process.ts';

const ZONE_TEXT =
  '$ORIGIN zone.example.\n$TTL 300\n@ SOA ns root 1 2 3 4 60\n@ NS ns\nns A 127.0.0.1\nwww A 10.9.8.7\n';

describe.each(BACK_ENDS)('weir with real servers of forward zones, over %s', (backEnd) => {
  const stack = new AsyncDisposableStack();
  let weir: Weir;
  let udp: UdpClient;
  beforeAll(async () => {
    weir = stack.use(await Weir.start({ backEnd }));
    udp = stack.use(await UdpClient.open(weir.dnsPort));
  });
  afterAll(() => stack.disposeAsync());

  /** Forwards the zone to a server, which ends with the suite. */
  async function forward(zone: string, server: RunningServer): Promise<void> {
    stack.defer(() => server.close());
    const api = await weir.api();
    await api.expect(201, 'POST', '/forward-zones', {
      zone,
      servers: [`${server.ip}:${server.port}`],
    });
  }

  test('queries a router for the local domain and for the reverse names of its network', async () => {
    const records = ['--host-record=nas.lan.example,192.168.7.20', '--local=/lan.example/'];
    const router = await startDnsmasq(records);
    await forward('lan.example', router);
    const api = await weir.api();
    const body = { zone: '192.168.7.0/24', servers: [`${router.ip}:${router.port}`] };
    await api.expect(201, 'POST', '/forward-zones', body);
    expect((await udp.ask('nas.lan.example', 'A')).data).toEqual(['192.168.7.20']);
    expect((await udp.ask('20.7.168.192.in-addr.arpa', 'PTR')).data).toEqual(['nas.lan.example']);
    expect((await udp.ask('none.lan.example', 'A')).rcode).toBe(Rcode.NXDOMAIN);
  });

  test('queries an authoritative server for its zone and caches its negative answers', async () => {
    await forward('zone.example', await startNsd('zone.example', ZONE_TEXT));
    expect((await udp.ask('www.zone.example', 'A')).data).toEqual(['10.9.8.7']);
    for (let round = 0; round < 2; round++)
      expect((await udp.ask('none.zone.example', 'A')).rcode).toBe(Rcode.NXDOMAIN);
  });
});
