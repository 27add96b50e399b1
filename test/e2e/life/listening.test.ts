/** Addresses on which Weir listens (both families, wildcards), and the source address of its replies. */
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { TcpClient, UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { BACK_ENDS, Weir } from '../../support/weir/weir-process.ts';

const hasIpv6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
);
const everywhere = hasIpv6 ? ['0.0.0.0', '::'] : ['0.0.0.0'];
const loopbacks = hasIpv6 ? ['127.0.0.1', '::1'] : ['127.0.0.1'];

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
});
afterAll(() => upstream.close());

describe.each(BACK_ENDS)('weir on its listen addresses, back end %s', (backEnd) => {
  describe.each([
    ['wildcards', everywhere],
    ['addresses', loopbacks],
  ])('configured with %s', (_kind, addresses) => {
    let weir: Weir;
    beforeAll(async () => {
      weir = await Weir.start({
        backEnd,
        addresses,
        upstreams: [`127.0.0.1:${String(upstream.port)}`],
        database: 'none',
      });
    });
    afterAll(() => weir.stop());

    test.each(loopbacks)(
      'answers on %s, over UDP and TCP, from the upstream and from the cache',
      async (address) => {
        using udp = await UdpClient.open(weir.dnsPort, address);
        await using tcp = await TcpClient.open(weir.dnsPort, address);
        for (let round = 0; round < 2; round++) {
          expect(await udp.ask('both.example.com', 'A')).toMatchObject({
            data: [EVERY_ADDRESS],
            from: address,
          });
          expect(await tcp.ask('both.example.com', 'A')).toMatchObject({ data: [EVERY_ADDRESS] });
        }
      },
    );

    // node:dgram does not report the destination address of a datagram.
    if (backEnd === 'batch' && addresses === everywhere)
      test('replies from the address that received the query, also from the cache', async () => {
        for (const name of ['first.example.com', 'second.example.com'])
          for (const address of ['127.0.0.2', '127.1.2.3', ...loopbacks]) {
            using udp = await UdpClient.open(weir.dnsPort, address);
            for (let round = 0; round < 2; round++)
              expect(await udp.ask(`${String(round)}.${name}`, 'A')).toMatchObject({ from: address });
            expect(await udp.ask(`only.${address.replaceAll(':', '-')}.${name}`, 'A')).toMatchObject({
              from: address,
            });
          }
      });
  });
});
