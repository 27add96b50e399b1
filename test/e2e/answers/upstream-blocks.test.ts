/** A block that an upstream imposes reaches the client with its reason, from the cache as well. */
import { describe, expect, test } from '@jest/globals';
import { ExtendedError, Rcode } from '../../../shared/dns/iana.ts';
import { a, idOf, optWith, questionOf, response } from '../../support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { Weir } from '../../support/weir/weir-process.ts';

describe('weir behind an upstream that blocks', () => {
  test('says 16 for what the upstream says 15 for, again from the cache, and nothing without EDNS', async () => {
    await using upstream = await ScriptedUpstream.start();
    upstream.tcpScript = (query) =>
      query.reply(
        response(questionOf(query.bytes), {
          id: idOf(query.bytes),
          answers: [a('blocked.example.com', '93.184.216.34', 300)],
          additionals: [optWith(15, Uint8Array.of(0, 15, 0x68, 0x69))],
        }),
      );
    const server = `tcp://${upstream.ip}:${String(upstream.port)}`;
    const toml = '[dns.health_check]\nenabled = false\n';
    await using weir = await Weir.start({ upstreams: [server], toml, database: 'none' });
    using udp = await UdpClient.open(weir.dnsPort);
    const expected = {
      rcode: Rcode.NOERROR,
      data: ['93.184.216.34'],
      extendedErrors: [ExtendedError.CENSORED],
    };
    for (let i = 0; i < 3; i++)
      expect(await udp.ask('blocked.example.com', 'A', { edns: {} })).toMatchObject(expected);
    expect(upstream.tcpQueries).toHaveLength(1);
    expect(await udp.ask('blocked.example.com', 'A')).toMatchObject({ extendedErrors: [] });
  });
});
