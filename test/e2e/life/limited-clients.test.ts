/** The limit on a client network's questions, over real sockets. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Rcode } from '../../../shared/dns/iana.ts';
import { questionOf, response } from '../../support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { askOverTcp, UdpClient } from '../../support/dns/dns-client.ts';
import type { Question } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { BACK_ENDS, Weir } from '../../support/weir/weir-process.ts';
import type { WeirOptions } from '../../support/weir/weir-process.ts';

/** A burst of ten, and a refill that no test waits for: what is to be limited is sent at once. */
const LIMIT = `[dns.rate_limit]
enabled = true
queries_per_second = 1
burst_size = 10
ipv4_prefix_len = 32
whitelist = ["127.0.9.0/24"]
`;

const sameQuestions = (count: number): Question[] =>
  Array.from({ length: count }, () => ({ name: 'one.example.com', type: 'A' }));
const newQuestions = (count: number): Question[] =>
  Array.from({ length: count }, (_, i) => ({ name: `n${String(i)}.example.com`, type: 'A' }));

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
});
afterAll(async () => {
  await upstream.close();
});

describe.each(BACK_ENDS)('weir with a rate limit, back end %s', (backEnd) => {
  const start = (toml: string, more: Pick<WeirOptions, 'database'> = {}): Promise<Weir> =>
    Weir.start({ backEnd, toml, upstreams: [`127.0.0.1:${String(upstream.port)}`], ...more });

  test('weir refuses what is over the limit over UDP and TCP, and says so in the log and the statistics', async () => {
    await using weir = await start(LIMIT);
    using udp = await UdpClient.open(weir.dnsPort, '127.0.0.1', '127.0.0.21');
    const replies = await udp.askAll(sameQuestions(14));
    const refused = replies.filter(({ rcode }) => rcode === Rcode.REFUSED).length;
    // The refill may bring one or two meanwhile.
    expect(refused).toBeGreaterThanOrEqual(2);
    expect(replies.slice(0, 10).every(({ rcode }) => rcode === Rcode.NOERROR)).toBe(true);
    expect((await askOverTcp(weir.dnsPort, 'one.example.com', 'A')).data).toEqual([EVERY_ADDRESS]);
    using spared = await UdpClient.open(weir.dnsPort, '127.0.0.1', '127.0.9.1');
    for (let i = 0; i < 14; i++) expect((await spared.ask('two.example.com', 'A')).rcode).toBe(Rcode.NOERROR);
    const api = await weir.api();
    await api.untilQueryCount(29);
    expect(await api.queryCount('status=RATE_LIMITED')).toBe(refused);
    expect(await api.stats()).toMatchObject({ queries_rate_limited: refused });
  });

  test('weir truncates every second limited answer with slip_ratio 2', async () => {
    await using weir = await start(`${LIMIT}slip_ratio = 2\n`, { database: 'none' });
    using udp = await UdpClient.open(weir.dnsPort, '127.0.0.1', '127.0.0.22');
    const outcomes = (await udp.askAll(sameQuestions(18)))
      .slice(10)
      .filter(({ data }) => data.length === 0)
      .map(({ rcode, truncated }) => [rcode, truncated]);
    expect(outcomes.length).toBeGreaterThanOrEqual(6);
    expect(outcomes).toEqual(
      outcomes.map((_, i) => (i % 2 === 0 ? [Rcode.REFUSED, false] : [Rcode.NOERROR, true])),
    );
  });

  test('weir answers everything in a dry run and logs what it would have refused', async () => {
    await using weir = await start(`${LIMIT}dry_run = true\n`);
    using udp = await UdpClient.open(weir.dnsPort, '127.0.0.1', '127.0.0.23');
    const replies = await udp.askAll(newQuestions(14));
    expect(replies.map(({ data }) => data)).toEqual(Array(14).fill([EVERY_ADDRESS]));
    const api = await weir.api();
    await api.untilQueryCount(14);
    const limited = await api.queries('status=RATE_LIMITED');
    expect(limited.length).toBeGreaterThanOrEqual(2);
    expect(limited.every(({ rcode }) => rcode === 'NOERROR')).toBe(true);
  });

  test('weir gives a network no more than its budget of NXDOMAIN answers', async () => {
    await using liar = await ScriptedUpstream.start();
    liar.udpScript = (query) => {
      const id = (query.bytes[0]! << 8) | query.bytes[1]!;
      query.reply(response(questionOf(query.bytes), { id, flags: 0x8183 }));
    };
    await using weir = await Weir.start({
      backEnd,
      upstreams: [`127.0.0.1:${String(liar.port)}`],
      toml: `${LIMIT.replace('burst_size = 10', 'burst_size = 1000')}nxdomain_per_second = 3\n`,
      database: 'none',
    });
    using udp = await UdpClient.open(weir.dnsPort, '127.0.0.1', '127.0.0.24');
    const questions = newQuestions(40);
    // The first ones by themselves, as the upstream's answers may overtake each other.
    const first = await udp.askAll(questions.slice(0, 3), 1);
    const rcodes = [...first, ...(await udp.askAll(questions.slice(3)))].map(({ rcode }) => rcode);
    expect(rcodes.slice(0, 3)).toEqual([Rcode.NXDOMAIN, Rcode.NXDOMAIN, Rcode.NXDOMAIN]);
    expect(rcodes).toContain(Rcode.REFUSED);
    expect(new Set(rcodes)).toEqual(new Set([Rcode.NXDOMAIN, Rcode.REFUSED]));
  });
});
