/**
 * A client that queries names whose servers do not answer gets only its share of the resolver, and other clients are
 * still served.
 */
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { Rcode } from '../../../shared/dns/iana.ts';
import type { UpstreamDetail } from '../../../shared/api/upstreams-api.ts';
import { questionOf } from '../../support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { query } from '../../support/dns/dns-message.ts';
import { answerTo, EVERY_ADDRESS } from '../../support/dns/echoing-upstream.ts';
import { until } from '../../support/parts/until.ts';
import { Weir } from '../../support/weir/weir-process.ts';

/**
 * Longer than the test, so that no query times out and frees capacity. So other clients get capacity only if the
 * clients share it.
 */
const TOML =
  '[dns]\nquery_timeout_ms = 30000\n\n[dns.health_check]\nfailure_threshold = 3\ninterval_secs = 3600\n';
/** More questions than the connections to one server can carry, even if the maximum number of questions waits. */
const GREEDY_QUESTIONS = 20_000;
const BURST = 500;
const MODEST_QUESTIONS = 200;
/** An address in a different /24 from the greedy client, whose address is 127.0.0.1. */
const MODEST = '127.0.1.1';
const SILENT = 's'.charCodeAt(0);

describe.each<'tcp' | 'udp'>(['tcp', 'udp'])('weir with an upstream over %s', (transport) => {
  test('a client gets answers while another client has 20,000 unanswered queries in flight', async () => {
    await using upstream = await ScriptedUpstream.start();
    upstream.tcpScript = (asked) => {
      const [, initial = 0] = questionOf(asked.bytes).qname;
      if ((initial | 0x20) !== SILENT) asked.reply(answerTo(asked.bytes));
    };
    upstream.udpScript = upstream.tcpScript;
    const server = `${transport}://${upstream.ip}:${String(upstream.port)}`;
    await using weir = await Weir.start({ upstreams: [server], toml: TOML });
    using greedy = await UdpClient.open(weir.dnsPort);
    using modest = await UdpClient.open(weir.dnsPort, '127.0.0.1', MODEST);
    const names = Array.from({ length: MODEST_QUESTIONS }, (_, i) => `modest${String(i)}.example.com`);
    let sent = 0;
    const flood = async (): Promise<void> => {
      for (const end = sent + BURST; sent < end; sent++)
        await greedy.send(query(`s${String(sent)}.example.net`, 'A', { id: sent & 0xffff }));
      // The upstream runs in this process and needs time to read.
      await turnOfTheLoop();
    };
    // A busy machine loses some queries, so it is enough that the first of the excess queries are refused.
    while (sent < GREEDY_QUESTIONS) await flood();
    await until(
      'the first refused question',
      async () => {
        await flood();
        return { sent, refused: greedy.unexpected.length };
      },
      ({ refused }) => refused > 0,
      { pauseMs: 0 },
    );
    const replies = [];
    for (const [i, name] of names.entries()) {
      if (i % 20 === 0) await flood();
      // Queries of the modest client may also be lost between the bursts; the client retries, as all clients do.
      replies.push(await modest.ask(name, 'A').catch(() => modest.ask(name, 'A')));
    }
    expect(replies.map(({ rcode, data }) => ({ rcode, data }))).toEqual(
      names.map(() => ({ rcode: Rcode.NOERROR, data: [EVERY_ADDRESS] })),
    );
    // Questions over the limit do not count against the server.
    const api = await weir.api();
    const health = async (): Promise<UpstreamDetail> =>
      (await api.expect<UpstreamDetail[]>(200, 'GET', '/upstream/health/detail'))[0]!;
    // A thread reports its upstreams once a second.
    const isKnown = ({ status }: UpstreamDetail): boolean => status !== 'Unknown';
    expect(await until('the state of the upstream', health, isKnown, { pauseMs: 50 })).toMatchObject({
      status: 'Healthy',
      consecutive_failures: 0,
    });
    const refused = await api.untilQueryCount(1, 'status=RATE_LIMITED&client=127.0.0.1');
    expect(refused).toBeGreaterThan(0);
  });
});
