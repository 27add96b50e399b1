/**
 * Unusual answers of an upstream over TCP: they affect no other question, and the reply to the client gives the reason.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ExtendedError, Rcode } from '../../../shared/dns/iana.ts';
import type { UpstreamDetail } from '../../../shared/api/upstreams-api.ts';
import { a, idOf, octets, optWith, questionOf, response, u16 } from '../../support/dns/built-messages.ts';
import type { TestRecord } from '../../support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { TcpClient, UdpClient } from '../../support/dns/dns-client.ts';
import { answerTo, EVERY_ADDRESS } from '../../support/dns/echoing-upstream.ts';
import { until } from '../../support/parts/until.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const OTHERS = 100;
/** A name whose answers grow when Weir rewrites them, because names in their RDATA must not be compressed. */
const HOSTILE = `${'a.'.repeat(110)}hostile.example`;
const BIG = 'big.example';
/**
 * Without probes, only client questions are on the connection to the upstream. All questions of a client socket go to
 * one worker, and so to one connection.
 */
const QUIET = '[dns.health_check]\nenabled = false\n';
const QNAME = Uint8Array.of(0xc0, 12);

function answer(query: Uint8Array, answers: readonly TestRecord[]): Uint8Array {
  return response(questionOf(query), { id: idOf(query), answers });
}

function tooLong(query: Uint8Array): Uint8Array {
  const rdata = octets([0, 0, 0, 0, 0, 1], QNAME);
  return answer(
    query,
    Array.from({ length: 400 }, () => ({ owner: QNAME, type: 'SRV', ttl: 60, rdata })),
  );
}

describe('weir with an upstream that answers on a single TCP connection', () => {
  let upstream: ScriptedUpstream;
  let weir: Weir;
  beforeAll(async () => {
    upstream = await ScriptedUpstream.start();
    weir = await Weir.start({ upstreams: [`tcp://${upstream.ip}:${String(upstream.port)}`], toml: QUIET });
  });
  afterAll(async () => {
    await weir.stop();
    await upstream.close();
  });

  test('an answer that cannot be rewritten is SERVFAIL with EDE 0 for its client; other clients get answers', async () => {
    // Sends all answers together once all questions have arrived on the connection.
    upstream.tcpScript = (_query, index) => {
      if (index !== OTHERS) return;
      for (const query of upstream.tcpQueries)
        query.reply(questionOf(query.bytes).qtype === 33 ? tooLong(query.bytes) : answerTo(query.bytes));
    };
    using udp = await UdpClient.open(weir.dnsPort);
    const hostile = udp.ask(HOSTILE, 'SRV', { edns: {} });
    const names = Array.from({ length: OTHERS }, (_, i) => `w${String(i)}.example.com`);
    const others = await udp.askAll(
      names.map((name) => ({ name, type: 'A' })),
      OTHERS,
    );
    expect(others.map(({ data }) => data)).toEqual(names.map(() => [EVERY_ADDRESS]));
    expect(await hostile).toMatchObject({ rcode: Rcode.SERVFAIL, extendedErrors: [ExtendedError.OTHER] });
    expect(upstream.tcpConnections).toBe(1);
    const api = await weir.api();
    const healthOf = (): Promise<UpstreamDetail[]> => api.expect(200, 'GET', '/upstream/health/detail');
    // Each thread reports once a second, so a report may include only some of these answers.
    const health = await until('the report of an answer that is too long', healthOf, ([server]) => {
      return server?.last_error === 'too-long' && server.status !== 'Unknown';
    });
    expect(health).toMatchObject([{ status: 'Healthy', consecutive_failures: 0, last_error: 'too-long' }]);
  });

  test('an answer of 65,000 bytes is relayed completely over TCP', async () => {
    const text = octets(...Array.from({ length: 255 }, () => [255, ...new Uint8Array(255).fill(0x61)]));
    const rdata = octets(text, [99, ...new Uint8Array(99).fill(0x61)]);
    upstream.tcpScript = (query) =>
      query.reply(answer(query.bytes, [{ owner: QNAME, type: 'TXT', ttl: 60, rdata }]));
    await using client = await TcpClient.open(weir.dnsPort);
    const reply = await client.ask(BIG, 'TXT', { edns: {} });
    expect(Buffer.from(reply.bytes).includes(Buffer.from([...u16(rdata.length), ...rdata]))).toBe(true);
    expect(reply).toMatchObject({ rcode: Rcode.NOERROR, truncated: false });
  });

  test("the upstream's extended error 15 is relayed as 16, also from the cache, and omitted without EDNS", async () => {
    const asked = upstream.tcpQueries.length;
    upstream.tcpScript = (query) =>
      query.reply(
        response(questionOf(query.bytes), {
          id: idOf(query.bytes),
          answers: [a('blocked.example.com', '93.184.216.34', 300)],
          additionals: [optWith(15, Uint8Array.of(0, 15, 0x68, 0x69))],
        }),
      );
    using udp = await UdpClient.open(weir.dnsPort);
    const expected = {
      rcode: Rcode.NOERROR,
      data: ['93.184.216.34'],
      extendedErrors: [ExtendedError.CENSORED],
    };
    for (let i = 0; i < 3; i++)
      expect(await udp.ask('blocked.example.com', 'A', { edns: {} })).toMatchObject(expected);
    expect(upstream.tcpQueries).toHaveLength(asked + 1);
    expect(await udp.ask('blocked.example.com', 'A')).toMatchObject({ extendedErrors: [] });
  });
});
