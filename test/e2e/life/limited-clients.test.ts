/** The rate limit of a client network, over real sockets. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Rcode } from '../../../shared/dns/iana.ts';
import { questionOf, response } from '../../support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { askOverTcp, UdpClient } from '../../support/dns/dns-client.ts';
import type { Question } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { BACK_ENDS, Weir } from '../../support/weir/weir-process.ts';

/**
 * A burst of ten queries, and a slow refill. No test waits for the refill, because all queries that should be limited
 * are sent in one burst.
 */
const LIMIT = `[dns.rate_limit]
enabled = true
queries_per_second = 1
burst_size = 10
ipv4_prefix_len = 32
whitelist = ["127.0.9.0/24"]
`;

/** So many questions that the refill cannot cover them, even if a slow machine reads them slowly. */
const OVER = 40;

const sameQuestions = (count: number): Question[] =>
  Array.from({ length: count }, () => ({ name: 'one.example.com', type: 'A' }));
const newQuestions = (count: number, prefix = 'n'): Question[] =>
  Array.from({ length: count }, (_, i) => ({ name: `${prefix}${String(i)}.example.com`, type: 'A' }));

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
});
afterAll(async () => {
  await upstream.close();
});

describe.each(BACK_ENDS)('weir with a rate limit, back end %s', (backEnd) => {
  let weir: Weir;
  let api: ApiClient;
  beforeAll(async () => {
    weir = await Weir.start({ backEnd, toml: LIMIT, upstreams: [`127.0.0.1:${String(upstream.port)}`] });
    api = await weir.api();
  });
  afterAll(async () => {
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });

  /** Each test uses a different client network, whose bucket is full. */
  const set = (limit: object): Promise<unknown> =>
    api.expect(200, 'PATCH', '/config', { dns: { rate_limit: limit } });

  test('refuses queries over the rate limit over UDP and TCP, and counts them in log and statistics', async () => {
    using udp = await UdpClient.open(weir.dnsPort, '127.0.0.1', '127.0.0.21');
    const replies = await udp.askAll(sameQuestions(OVER));
    const refused = replies.filter(({ rcode }) => rcode === Rcode.REFUSED).length;
    // The refill adds one token per second during the test.
    expect(refused).toBeGreaterThanOrEqual(2);
    expect(replies.slice(0, 10).every(({ rcode }) => rcode === Rcode.NOERROR)).toBe(true);
    expect((await askOverTcp(weir.dnsPort, 'one.example.com', 'A')).data).toEqual([EVERY_ADDRESS]);
    using spared = await UdpClient.open(weir.dnsPort, '127.0.0.1', '127.0.9.1');
    for (let i = 0; i < OVER; i++)
      expect((await spared.ask('two.example.com', 'A')).rcode).toBe(Rcode.NOERROR);
    await api.untilQueryCount(2 * OVER + 1);
    expect(await api.queryCount('status=RATE_LIMITED')).toBe(refused);
    expect(await api.stats()).toMatchObject({ queries_rate_limited: refused });
  });

  test('logs one row per second for the limited queries of a network, and counts each of them', async () => {
    await set({ ipv4_prefix_len: 24 });
    const clients = ['127.0.3.1', '127.0.3.2', '127.0.4.1'];
    const beganMs = Date.now();
    const replies = await Promise.all(
      clients.map(async (address) => {
        using udp = await UdpClient.open(weir.dnsPort, '127.0.0.1', address);
        return await udp.askAll(newQuestions(700, `flood-${address.replaceAll('.', '-')}-`));
      }),
    );
    const secs = Math.ceil((Date.now() - beganMs) / 1000);
    await set({ ipv4_prefix_len: 32 });
    const limited = replies.map((some) => some.filter(({ rcode }) => rcode === Rcode.REFUSED).length);
    const sum = limited.reduce((total, count) => total + count, 0);
    expect(sum).toBeGreaterThan(1000);
    await api.untilQueryCount(2100, 'domain=flood-');
    const status = 'status=RATE_LIMITED&domain=flood-';
    expect(await api.queryCount(status)).toBe(sum);
    expect(await api.exportedQueries(status)).toBe(sum);
    // One row for each network and second, and one more if a block of the log ends within that second.
    expect(await api.rowCount(status)).toBeLessThanOrEqual(2 * (secs + 1) * 3);
    const top = await api.expect<{ ip: string; count: number }[]>(200, 'GET', '/stats/top_clients?limit=100');
    for (const client of clients) expect(top.find(({ ip }) => ip === client)!.count).toBe(700);
  });

  test('truncates every second limited answer with slip_ratio 2', async () => {
    await set({ slip_ratio: 2 });
    using udp = await UdpClient.open(weir.dnsPort, '127.0.0.1', '127.0.0.22');
    const outcomes = (await udp.askAll(sameQuestions(OVER)))
      .slice(10)
      .filter(({ data }) => data.length === 0)
      .map(({ rcode, truncated }) => [rcode, truncated]);
    expect(outcomes.length).toBeGreaterThanOrEqual(6);
    expect(outcomes).toEqual(
      outcomes.map((_, i) => (i % 2 === 0 ? [Rcode.REFUSED, false] : [Rcode.NOERROR, true])),
    );
  });

  test('answers every query in a dry run of the rate limit, and logs which it would have refused', async () => {
    await set({ dry_run: true, slip_ratio: 0 });
    using udp = await UdpClient.open(weir.dnsPort, '127.0.0.1', '127.0.0.23');
    const replies = await udp.askAll(newQuestions(OVER));
    expect(replies.map(({ data }) => data)).toEqual(Array(OVER).fill([EVERY_ADDRESS]));
    await api.untilQueryCount(OVER, 'client=127.0.0.23');
    const limited = await api.queries('status=RATE_LIMITED&client=127.0.0.23');
    expect(limited.reduce((sum, { repeats }) => sum + 1 + repeats, 0)).toBeGreaterThanOrEqual(2);
    expect(limited.every(({ rcode }) => rcode === 'NOERROR')).toBe(true);
  });

  test('sends a network no more NXDOMAIN answers than rate_limit.nxdomain_per_second', async () => {
    await using liar = await ScriptedUpstream.start();
    liar.udpScript = (query) => {
      const id = (query.bytes[0]! << 8) | query.bytes[1]!;
      query.reply(response(questionOf(query.bytes), { id, flags: 0x8183 }));
    };
    const pools = [{ name: 'liar', strategy: 'Failover', servers: [`127.0.0.1:${String(liar.port)}`] }];
    await api.expect(200, 'PATCH', '/config?force=true', { dns: { pools } });
    await set({ dry_run: false, burst_size: 1000, nxdomain_per_second: 3 });
    using udp = await UdpClient.open(weir.dnsPort, '127.0.0.1', '127.0.0.24');
    const questions = newQuestions(40, 'nx');
    // Sends the first queries one by one, because answers of the upstream may arrive in a different order.
    const first = await udp.askAll(questions.slice(0, 3), 1);
    const rcodes = [...first, ...(await udp.askAll(questions.slice(3)))].map(({ rcode }) => rcode);
    expect(rcodes.slice(0, 3)).toEqual([Rcode.NXDOMAIN, Rcode.NXDOMAIN, Rcode.NXDOMAIN]);
    expect(rcodes).toContain(Rcode.REFUSED);
    expect(new Set(rcodes)).toEqual(new Set([Rcode.NXDOMAIN, Rcode.REFUSED]));
  });
});
