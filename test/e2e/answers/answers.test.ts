/**
 * Answers that clients get from the whole process: queries over real sockets; the upstreams are a real authoritative
 * server and a real resolver that queries it.
 *
 * @needs nsd unbound
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ExtendedError, RRType, Rcode } from '../../../shared/dns/iana.ts';
import { startNsd, startUnbound } from '../../support/dns/authority.ts';
import type { RunningServer } from '../../support/dns/authority.ts';
import { askOverTcp, TcpClient, UdpClient } from '../../support/dns/dns-client.ts';
import { query } from '../../support/dns/dns-message.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { until } from '../../support/parts/until.ts';
import { BACK_ENDS, Weir } from '../../support/weir/weir-process.ts';
import { LONG_TEXTS, TTL, ZONE, ZONE_TEXT } from '../../support/dns/zone-directory.ts';

const servers: RunningServer[] = [];
let authority: RunningServer;

/** Data of a record whose type the codec does not support. */
const unknown = (octets: unknown): string => Buffer.from(octets as Uint8Array).toString('hex');

const SVCB_RDATA =
  '0001' +
  '03777777' +
  '047765697207' +
  '6578616d706c65' +
  '00' +
  '0001' +
  '0003' +
  '026832' +
  '0003' +
  '0002' +
  '20fb';
const HTTPS_RDATA = '0001' + '00' + '0001' + '0006' + '026832' + '026833' + '0004' + '0004' + 'c0000201';

beforeAll(async () => {
  authority = await startNsd(ZONE, ZONE_TEXT);
  servers.push(authority);
});
afterAll(async () => {
  for (const server of servers.reverse()) await server.close();
});

describe.each(BACK_ENDS)('weir in front of an authority, back end %s', (backEnd) => {
  let weir: Weir;
  let udp: UdpClient;
  beforeAll(async () => {
    weir = await Weir.start({ backEnd, upstreams: [`127.0.0.1:${String(authority.port)}`] });
    udp = await UdpClient.open(weir.dnsPort);
  });
  afterAll(async () => {
    udp.close();
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });

  test.each([
    ['A', 'www', ['192.0.2.1', '192.0.2.2']],
    ['AAAA', 'www', ['2001:db8::1']],
    ['TXT', 'short', [[Buffer.from('one'), Buffer.from('two')]]],
    ['A', 'anything.wild', ['192.0.2.9']],
    ['NS', '', [`ns.${ZONE}`]],
  ] as const)('answers %s of "%s" with the records of the zone', async (type, owner, data) => {
    const reply = await udp.ask(owner === '' ? ZONE : `${owner}.${ZONE}`, type, { edns: {} });
    expect({ rcode: reply.rcode, truncated: reply.truncated }).toEqual({
      rcode: Rcode.NOERROR,
      truncated: false,
    });
    expect(reply.data.toSorted()).toEqual(data);
    expect(reply.message).toMatchObject({ flag_qr: true, flag_ra: true, flag_rd: true, flag_aa: false });
  });

  test('answers MX with preferences and names in full', async () => {
    const reply = await udp.ask(ZONE, 'MX', { edns: {} });
    expect(reply.data.toSorted()).toEqual([
      { preference: 10, exchange: `www.${ZONE}` },
      { preference: 20, exchange: `backup.${ZONE}` },
    ]);
  });

  test.each([
    ['SVCB', RRType.SVCB, 'svc', SVCB_RDATA],
    ['HTTPS', RRType.HTTPS, 'web', HTTPS_RDATA],
    ['TYPE65280', 65_280, 'odd', 'c00cffff'],
  ])('relays %s byte by byte, from the upstream and from the cache', async (_name, type, owner, rdata) => {
    for (let round = 0; round < 2; round++) {
      const reply = await udp.ask(`${owner}.${ZONE}`, type, { edns: {} });
      expect(reply.data.map(unknown)).toEqual([rdata]);
    }
  });

  test('truncates a TXT of more than 4 KiB over UDP and sends all of it over TCP', async () => {
    const overUdp = await udp.ask(`long.${ZONE}`, 'TXT', { edns: { udpSize: 1232 } });
    expect(overUdp).toMatchObject({ truncated: true, answers: [], rcode: Rcode.NOERROR });
    expect(overUdp.bytes.length).toBeLessThanOrEqual(1232);
    const overTcp = await askOverTcp(weir.dnsPort, `long.${ZONE}`, 'TXT');
    expect(overTcp.truncated).toBe(false);
    expect(overTcp.data).toEqual([LONG_TEXTS.map((text) => Buffer.from(text))]);
  });

  test('never sends more than 1232 bytes over UDP, whatever EDNS size the client announces', async () => {
    const reply = await udp.ask(`long.${ZONE}`, 'TXT', { edns: { udpSize: 65_535 } });
    expect(reply).toMatchObject({ truncated: true, opt: { udpSize: 1232 } });
  });

  test('returns a complete CNAME chain in order', async () => {
    const reply = await udp.ask(`alias.${ZONE}`, 'A', { edns: {} });
    expect(reply.answers.map(({ name, type }) => `${name} ${type}`)).toEqual([
      `alias.${ZONE} CNAME`,
      `middle.${ZONE} CNAME`,
      `www.${ZONE} A`,
      `www.${ZONE} A`,
    ]);
  });

  test('returns NXDOMAIN and the CNAME for a CNAME whose target does not exist', async () => {
    const reply = await udp.ask(`outside.${ZONE}`, 'A', { edns: {} });
    expect(reply).toMatchObject({ rcode: Rcode.NXDOMAIN, data: [`nothing.${ZONE}`] });
    expect(reply.authorities.map(({ type }) => type)).toEqual(['SOA']);
  });

  test.each([
    ['NXDOMAIN', 'missing', Rcode.NXDOMAIN],
    ['NODATA', 'backup', Rcode.NOERROR],
  ])(
    'answers %s with the SOA of the zone, from the upstream and from the cache',
    async (_name, owner, rcode) => {
      for (let round = 0; round < 2; round++) {
        const reply = await udp.ask(`${owner}.${ZONE}`, 'AAAA', { edns: {} });
        expect(reply).toMatchObject({ rcode, answers: [] });
        expect(reply.authorities).toEqual([
          expect.objectContaining({
            name: ZONE,
            type: 'SOA',
            data: expect.objectContaining({ minimum: 60 }),
          }),
        ]);
        // RFC 2308 section 5: the TTL does not exceed MINIMUM.
        expect(reply.authorities[0]!.ttl).toBeLessThanOrEqual(60);
      }
    },
  );

  test('counts the TTL of a cached answer down', async () => {
    const first = await udp.ask(`one.wild.${ZONE}`, 'A');
    expect(first.answers[0]!.ttl).toBe(TTL);
    const ttlOf = async (): Promise<number> => (await udp.ask(`one.wild.${ZONE}`, 'A')).answers[0]!.ttl;
    const ttl = await until('a lower TTL', ttlOf, (left) => left < TTL, { pauseMs: 50 });
    expect(ttl).toBeGreaterThan(0);
  });

  test('echoes the letter case of the query name, from the upstream, from the cache and over TCP', async () => {
    for (const name of [`mIxEd.wIlD.${ZONE}`, `MiXeD.WiLd.${ZONE}`]) {
      const reply = await udp.ask(name, 'A');
      expect(reply.message.questions?.[0]?.name).toBe(name);
      expect(reply.answers[0]!.name).toBe(name);
      const overTcp = await askOverTcp(weir.dnsPort, name, 'A');
      expect(overTcp.message.questions?.[0]?.name).toBe(name);
    }
  });

  test('answers a query without EDNS without an OPT record, within 512 bytes', async () => {
    const reply = await udp.ask(`www.${ZONE}`, 'A');
    expect(reply).toMatchObject({ opt: null, truncated: false });
    const long = await udp.ask(`long.${ZONE}`, 'TXT');
    expect(long).toMatchObject({ opt: null, truncated: true });
    expect(long.bytes.length).toBeLessThanOrEqual(512);
  });

  test('answers an unknown EDNS version with BADVERS', async () => {
    const reply = await udp.ask(`www.${ZONE}`, 'A', { edns: { version: 1 } });
    expect(reply).toMatchObject({ opt: { version: 0, extendedRcode: Rcode.BADVERS }, answers: [] });
  });

  test('copies DO into its answer, and caches answers with and without DO separately', async () => {
    const withDo = await udp.ask(`www.${ZONE}`, 'A', { edns: { dnssecOk: true } });
    expect(withDo.opt).toMatchObject({ dnssecOk: true });
    const without = await udp.ask(`www.${ZONE}`, 'A', { edns: {} });
    expect(without.opt).toMatchObject({ dnssecOk: false });
  });

  test('answers several queries sent together on one TCP connection', async () => {
    await using client = await TcpClient.open(weir.dnsPort);
    const names = Array.from({ length: 40 }, (_, i) => `tcp${String(i)}.wild.${ZONE}`);
    names.forEach((name, id) => client.send(query(name, 'A', { id })));
    const ids = (await client.messages(names.length)).map((bytes) => bytes[1]!);
    expect(ids.toSorted((a, b) => a - b)).toEqual(names.map((_, id) => id));
  });

  test('logs its answers over UDP and TCP with the upstream that sent them', async () => {
    const api = await weir.api();
    await udp.ask(`logged.wild.${ZONE}`, 'A');
    await udp.ask(`logged.wild.${ZONE}`, 'A');
    await askOverTcp(weir.dnsPort, `logged.wild.${ZONE}`, 'A');
    await api.untilQueryCount(3, 'domain=logged.wild');
    const rows = await api.queries('domain=logged.wild');
    // Rows with the same time have no particular order.
    const reported = rows.map(({ protocol, status, cached }) => `${protocol} ${status} ${String(cached)}`);
    expect(reported.toSorted()).toEqual(['tcp CACHED true', 'udp ALLOWED false', 'udp CACHED true']);
    expect(rows.find(({ cached }) => !cached)).toMatchObject({
      domain: `logged.wild.${ZONE}`,
      type: 'A',
      rcode: 'NOERROR',
      client: '127.0.0.1',
      upstream: `127.0.0.1:${String(authority.port)}`,
      answers: [expect.objectContaining({ type: 'A', data: '192.0.2.9' })],
    });
  });

  if (backEnd === 'batch')
    describe('with other upstream pools', () => {
      const dead = ['127.0.0.1:9', '127.0.0.2:9'];
      const pool = (name: string, priority: number, list: readonly string[]) => ({
        ...{ name, priority, servers: list },
        strategy: 'Failover',
      });
      const use = async (...pools: readonly ReturnType<typeof pool>[]): Promise<void> => {
        await (await weir.api()).expect(200, 'PATCH', '/config?force=true', { dns: { pools } });
      };

      test('uses the next server of a Failover pool if the first is down, and the next pool if all are down', async () => {
        const alive = `127.0.0.1:${String(authority.port)}`;
        for (const [at, pools] of [
          [pool('one', 1, [dead[0]!, alive])],
          [pool('dead', 1, dead), pool('alive', 2, [alive])],
        ].entries()) {
          await use(...pools);
          const name = `pools-${String(at)}.wild.${ZONE}`;
          const replies = await udp.askAll([
            { name, type: 'A' },
            { name, type: 'AAAA' },
          ]);
          expect(replies.map(({ rcode, data }) => [rcode, data.length])).toEqual([
            [Rcode.NOERROR, 1],
            [Rcode.NOERROR, 0],
          ]);
        }
      });

      test('answers SERVFAIL with the extended error "no reachable authority" if all upstreams are down', async () => {
        await use(pool('dead', 1, dead));
        expect(await udp.ask(`dead.wild.${ZONE}`, 'A', { edns: {} })).toMatchObject({
          rcode: Rcode.SERVFAIL,
          extendedErrors: [ExtendedError.NO_REACHABLE_AUTHORITY],
        });
      });

      test('relays the answers of its upstream, over UDP and TCP, with and without EDNS', async () => {
        await using upstream = await startEchoingUpstream();
        await use(pool('echo', 1, [`127.0.0.1:${String(upstream.port)}`]));
        const data = [EVERY_ADDRESS];
        expect(await udp.ask('one.example.com', 'A')).toMatchObject({ data, opt: null });
        expect(await udp.ask('two.example.com', 'A', { edns: {} })).toMatchObject({ data });
        expect(await udp.ask('one.example.com', 'AAAA')).toMatchObject({ rcode: Rcode.NOERROR, data: [] });
        expect(await askOverTcp(weir.dnsPort, 'one.example.com', 'A')).toMatchObject({ data });
      });
    });
});

describe('weir in front of a resolver', () => {
  test("relays the resolver's answers, including NXDOMAIN", async () => {
    const resolver = await startUnbound(ZONE, authority.port);
    servers.push(resolver);
    const upstreams = [`127.0.0.1:${String(resolver.port)}`];
    await using weir = await Weir.start({ upstreams, database: 'none' });
    using udp = await UdpClient.open(weir.dnsPort);
    expect((await udp.ask(`alias.${ZONE}`, 'A', { edns: {} })).answers.map(({ type }) => type)).toEqual([
      'CNAME',
      'CNAME',
      'A',
      'A',
    ]);
    expect((await udp.ask(`svc.${ZONE}`, RRType.SVCB)).data.map(unknown)).toEqual([SVCB_RDATA]);
    expect(await udp.ask(`missing.${ZONE}`, 'A')).toMatchObject({ rcode: Rcode.NXDOMAIN });
    expect((await askOverTcp(weir.dnsPort, `long.${ZONE}`, 'TXT')).data).toHaveLength(1);
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });
});
