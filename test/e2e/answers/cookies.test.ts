/** DNS cookies of the server (RFC 7873, RFC 9018) as proof of a client's address, over real sockets. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Rcode } from '../../../shared/dns/iana.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { TcpClient, UdpClient } from '../../support/dns/dns-client.ts';
import { query, type QueryOptions, type Reply } from '../../support/dns/dns-message.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const BURST = 10;
const CONFIG = `[dns]
local_records = ["here.home.example A 192.0.2.20"]
[dns.rate_limit]
enabled = true
queries_per_second = 1
burst_size = ${String(BURST)}
slip_ratio = 2
ipv4_prefix_len = 32
whitelist = ["127.0.0.1/32"]
`;
const CLIENT_COOKIE = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
const SIZE = 24;

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
});
afterAll(() => upstream.close());

const withCookie = (cookie: Uint8Array | undefined = CLIENT_COOKIE): QueryOptions => ({ edns: { cookie } });

/** The reply without unpredictable values. */
function shown({ rcode, data, cookie, opt }: Reply): unknown {
  const isGood = cookie?.length === SIZE && Buffer.from(cookie).subarray(0, 8).equals(CLIENT_COOKIE);
  return { rcode: opt?.extendedRcode ?? rcode, data, isGood };
}

describe('weir with DNS cookies', () => {
  let weir: Weir;
  let udp: UdpClient;
  beforeAll(async () => {
    weir = await Weir.start({
      upstreams: [`127.0.0.1:${String(upstream.port)}`],
      toml: CONFIG,
      database: 'none',
    });
    udp = await UdpClient.open(weir.dnsPort);
  });
  afterAll(async () => {
    udp.close();
    await weir.stop();
  });

  test('adds a server cookie to every reply if the query has a cookie, over UDP and TCP', async () => {
    await using tcp = await TcpClient.open(weir.dnsPort);
    const good = { rcode: Rcode.NOERROR, data: [EVERY_ADDRESS], isGood: true };
    for (const client of [udp, tcp]) {
      const name = client === udp ? 'one.example.com' : 'two.example.com';
      expect(shown(await client.ask(name, 'A', withCookie()))).toEqual(good);
      expect(shown(await client.ask(name, 'A', withCookie()))).toEqual(good);
      expect(shown(await client.ask('here.home.example', 'A', withCookie()))).toEqual({
        ...good,
        data: ['192.0.2.20'],
      });
      expect(shown(await client.ask(name, 'A', { ...withCookie(), qclass: 3 }))).toMatchObject({
        isGood: true,
      });
      expect((await client.ask(name, 'A', { edns: {} })).cookie).toBeUndefined();
    }
  });

  test('answers a query with a cookie and no question section, and sends FORMERR if both are missing', async () => {
    const header = Uint8Array.of(7, 7, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1);
    const whole = query('.', 'A', withCookie());
    const opt = whole.subarray(17);
    const reply = await udp.exchange(Uint8Array.from([...header, ...opt]));
    expect(shown(reply)).toEqual({ rcode: Rcode.NOERROR, data: [], isGood: true });
    expect(reply.message.questions).toEqual([]);
    const bare = await udp.exchange(Uint8Array.from([...header.subarray(0, 11), 0]));
    expect(bare.rcode).toBe(Rcode.FORMERR);
    const without = query('.', 'A', { edns: {} }).subarray(17);
    expect((await udp.exchange(Uint8Array.from([...header, ...without]))).rcode).toBe(Rcode.FORMERR);
  });

  test('answers FORMERR to cookies of an invalid length', async () => {
    for (const length of [0, 7, 9, 15, 41])
      expect((await udp.ask('one.example.com', 'A', withCookie(new Uint8Array(length)))).rcode).toBe(
        Rcode.FORMERR,
      );
  });

  test('answers a client over its rate limit if it has a valid cookie or uses TCP', async () => {
    const address = '127.0.0.31';
    using victim = await UdpClient.open(weir.dnsPort, '127.0.0.1', address);
    const { cookie } = await victim.ask('one.example.com', 'A', withCookie());
    // Queries of an attacker who spoofs the victim's address.
    const forged = [];
    for (let i = 0; i < 3 * BURST; i++) forged.push(await victim.ask('one.example.com', 'A'));
    expect(forged.some(({ truncated }) => truncated)).toBe(true);
    expect(forged.some(({ rcode }) => rcode === Rcode.REFUSED)).toBe(true);

    const answer = { rcode: Rcode.NOERROR, data: [EVERY_ADDRESS] };
    expect(shown(await victim.ask('one.example.com', 'A', withCookie(cookie)))).toMatchObject(answer);
    {
      await using tcp = await TcpClient.open(weir.dnsPort, '127.0.0.1', address);
      expect(shown(await tcp.ask('one.example.com', 'A'))).toMatchObject(answer);
    }
    // The cookie of another client does not prove the address of the victim.
    using other = await UdpClient.open(weir.dnsPort, '127.0.0.1', '127.0.0.32');
    for (let i = 0; i < 2 * BURST; i++) await other.ask('one.example.com', 'A', withCookie(cookie));
    const outcomes = [];
    for (let i = 0; i < 4; i++) outcomes.push(await other.ask('one.example.com', 'A', withCookie(cookie)));
    expect(outcomes.filter(({ data }) => data.length === 0).length).toBeGreaterThanOrEqual(2);
    // Addresses with a valid cookie also have a rate limit, and refusals over this limit are not truncated to make the
    // client use TCP.
    const proven = [];
    for (let i = 0; i < 3 * BURST; i++)
      proven.push(await victim.ask('one.example.com', 'A', withCookie(cookie)));
    expect(proven.filter(({ rcode }) => rcode === Rcode.REFUSED).length).toBeGreaterThanOrEqual(BURST);
    expect(proven.some(({ truncated }) => truncated)).toBe(false);
  });

  test.each([
    ['FORMERR', '127.0.4.1', Rcode.FORMERR, Uint8Array.of(0, 1, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0)],
    ['NOTIMP', '127.0.4.2', Rcode.NOTIMP, Uint8Array.of(0, 1, 0x11, 0, 0, 1, 0, 0, 0, 0, 0, 0)],
    [
      'FORMERR of an option',
      '127.0.4.3',
      Rcode.FORMERR,
      query('one.example.com', 'A', { edns: { cookie: new Uint8Array(9) } }),
    ],
    ['BADVERS', '127.0.4.4', Rcode.BADVERS, query('one.example.com', 'A', { edns: { version: 1 } })],
  ])(
    'sends at most as many %s replies to a network as its rate limit allows answers',
    async (_what, address, rcode, message) => {
      using client = await UdpClient.open(weir.dnsPort, '127.0.0.1', address);
      const rcodes = [];
      for (let i = 0; i < 2 * BURST; i++) {
        const reply = await client.exchange(Uint8Array.from([0, i, ...message.subarray(2)]));
        rcodes.push(reply.truncated ? Rcode.REFUSED : (reply.opt?.extendedRcode ?? reply.rcode));
      }
      expect(rcodes.slice(0, BURST).every((given) => given === rcode)).toBe(true);
      expect(rcodes.filter((given) => given === Rcode.REFUSED).length).toBeGreaterThanOrEqual(BURST / 2);
    },
  );
});
