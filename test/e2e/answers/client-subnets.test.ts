/**
 * Client subnets (RFC 7871): Weir removes them from questions, or forwards them and never gives an answer to another
 * subnet.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeMessage } from '../../../shared/dns/codec.ts';
import { RRType, Rcode } from '../../../shared/dns/iana.ts';
import { a, idOf, optWith, questionOf, response } from '../../support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import type { ReceivedQuery } from '../../support/dns/scripted-upstream.ts';
import { until } from '../../support/parts/until.ts';
import { askOverTcp, UdpClient } from '../../support/dns/dns-client.ts';
import { nameOctets, query, subnetsOf } from '../../support/dns/dns-message.ts';
import type { Reply } from '../../support/dns/dns-message.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const QNAME = Uint8Array.of(0xc0, 12);
/** 198.51.100.0/24, 198.51.101.0/24, 2001:db8:7::/48, and a query that forbids sending a subnet. */
const EAST = [0, 1, 24, 0, 198, 51, 100];
const WEST = [0, 1, 24, 0, 198, 51, 101];
const NORTH = [0, 2, 48, 0, 0x20, 1, 0x0d, 0xb8, 0, 7];
const NO_SUBNET = [0, 1, 0, 0];
/** Address in the upstream's answers to queries without a subnet. */
const ANYWHERE = '192.0.2.1';
const MALFORMED = [
  [0, 1, 24, 0, 198, 51],
  [0, 1, 24, 24, 198, 51, 100],
  [0, 1, 23, 0, 198, 51, 101],
  [0, 3, 24, 0, 198, 51, 100],
];

function withScope(ecs: readonly number[], scope: number): number[] {
  return ecs.map((octet, index) => (index === 3 ? scope : octet));
}

function subnetOf({ bytes }: ReceivedQuery): number[] | undefined {
  const message = decodeMessage(bytes);
  return message === null ? undefined : subnetsOf(message)[0];
}

/** Address in the upstream's answers for a subnet: its last byte is that of the subnet. */
function addressFor(ecs: readonly number[] | undefined): string {
  return ecs === undefined || ecs.length === 4 ? ANYWHERE : `192.0.2.${String(ecs.at(-1))}`;
}

/** The answer to a query for this subnet, with a scope prefix equal to its source prefix. */
function answer(
  { bytes }: ReceivedQuery,
  ecs: readonly number[] | undefined,
  ip = addressFor(ecs),
): Uint8Array {
  const reported = ecs === undefined ? [] : [optWith(8, Uint8Array.from(withScope(ecs, ecs[2]!)))];
  return response(questionOf(bytes), { id: idOf(bytes), answers: [a(QNAME, ip)], additionals: reported });
}

/** An upstream that answers each subnet with a different address; some first labels change how it answers. */
async function startSubnetUpstream(): Promise<ScriptedUpstream> {
  const upstream = await ScriptedUpstream.start();
  upstream.udpScript = (received) => {
    const label = labelOf(received);
    if (label === 'held') return;
    const ecs = subnetOf(received);
    if (label === 'wrong') received.reply(answer(received, WEST, '203.0.113.66'));
    received.reply(answer(received, label === 'unaware' ? undefined : ecs));
  };
  return upstream;
}

function labelOf({ bytes }: ReceivedQuery): string {
  return Buffer.from(bytes.subarray(13, 13 + bytes[12]!))
    .toString()
    .toLowerCase();
}

/** The upstream's queries for a name, without retransmissions. */
function queriesFor({ udpQueries }: ScriptedUpstream, name: string): ReceivedQuery[] {
  const wanted = Buffer.from(nameOctets(name)).toString('latin1');
  const own = udpQueries.filter(({ bytes }) =>
    Buffer.from(bytes.subarray(12)).toString('latin1').toLowerCase().startsWith(wanted),
  );
  return [
    ...new Map(
      own.map((received) => [`${String(received.port)} ${String(idOf(received.bytes))}`, received]),
    ).values(),
  ];
}

interface Running {
  readonly upstream: ScriptedUpstream;
  readonly weir: Weir;
  readonly udp: UdpClient;
}

async function start(ecs: string): Promise<Running> {
  const upstream = await startSubnetUpstream();
  const records = '["nas.example 60 A 10.0.0.9", "alias.example CNAME target.example"]';
  const dns = `[dns]\n${ecs}local_records = ${records}\n`;
  const pools = `[[dns.pools]]\nname = "p"\nservers = ["${upstream.ip}:${String(upstream.port)}"]\n`;
  const weir = await Weir.start({ pools: dns + pools, database: 'none' });
  return { upstream, weir, udp: await UdpClient.open(weir.dnsPort) };
}

async function stop({ upstream, weir, udp }: Running): Promise<void> {
  udp.close();
  await upstream.close();
  expect(await weir.stop()).toMatchObject({ code: 0 });
}

describe('weir that forwards client subnets', () => {
  let running: Running;
  let upstream: ScriptedUpstream;
  beforeAll(async () => {
    running = await start('ecs = "forward"\n');
    ({ upstream } = running);
  });
  afterAll(() => stop(running));

  const ask = (name: string, ...subnets: number[][]): Promise<Reply> =>
    running.udp.ask(name, 'A', { edns: { subnets } });

  test.each<[string, number[]]>([
    ['IPv4', EAST],
    ['IPv6', NORTH],
  ])('forwards an %s subnet to the upstream unchanged, and its scope to the client', async (family, ecs) => {
    const name = `told-${family.toLowerCase()}.example`;
    const reply = await ask(name, ecs);
    expect(reply.data).toEqual([addressFor(ecs)]);
    expect(reply.subnets).toEqual([withScope(ecs, ecs[2]!)]);
    expect(queriesFor(upstream, name).map(subnetOf)).toEqual([ecs]);
  });

  test('forwards a subnet over TCP', async () => {
    const reply = await askOverTcp(running.weir.dnsPort, 'tcp.example', 'A', { edns: { subnets: [EAST] } });
    expect([reply.data, reply.subnets]).toEqual([[addressFor(EAST)], [withScope(EAST, 24)]]);
  });

  test('does not add a subnet to queries without one', async () => {
    expect((await ask('silent.example')).subnets).toEqual([]);
    expect((await running.udp.ask('silent2.example', 'A')).opt).toBeNull();
    const asked = [...queriesFor(upstream, 'silent.example'), ...queriesFor(upstream, 'silent2.example')];
    expect(asked.map(subnetOf)).toEqual([undefined, undefined]);
  });

  test('never answers a query with the answer for a different subnet', async () => {
    const name = 'shared.example';
    for (let round = 0; round < 2; round++) {
      expect((await ask(name, EAST)).data).toEqual([addressFor(EAST)]);
      expect((await ask(name, WEST)).data).toEqual([addressFor(WEST)]);
      expect((await ask(name)).data).toEqual([ANYWHERE]);
    }
    // The second query without a subnet is answered from the cache.
    expect(queriesFor(upstream, name).map(subnetOf)).toEqual([EAST, WEST, undefined, EAST, WEST]);
  });

  test('sends one upstream query for all waiting queries with equal subnets, and one per different subnet', async () => {
    const name = 'held.example';
    const waiting = [ask(name, EAST), ask(name, EAST), ask(name, WEST), ask(name), ask(name)];
    await until(
      'three questions at the upstream',
      () => queriesFor(upstream, name).map(subnetOf),
      ({ length }) => length === 3,
    );
    // Once this query is answered, Weir has read everything that was sent earlier on the same socket.
    await ask('barrier.example');
    const asked = queriesFor(upstream, name);
    const subnets = asked.map((received) => String(subnetOf(received)));
    expect(subnets.sort()).toEqual([EAST, WEST, undefined].map(String).sort());
    for (const received of asked) received.reply(answer(received, subnetOf(received)));
    const replies = await Promise.all(waiting);
    const expected = [EAST, EAST, WEST, undefined, undefined].map((ecs) => [addressFor(ecs)]);
    expect(replies.map(({ data }) => data)).toEqual(expected);
  });

  test('ignores a reply for a different subnet, and accepts the reply for the right subnet', async () => {
    const reply = await ask('wrong.example', EAST);
    expect([reply.data, reply.subnets]).toEqual([[addressFor(EAST)], [withScope(EAST, 24)]]);
  });

  test('sends scope 0 if the upstream sends none, but does not cache the answer for other clients', async () => {
    const reply = await ask('unaware.example', EAST);
    expect([reply.data, reply.subnets]).toEqual([[ANYWHERE], [EAST]]);
    await ask('unaware.example', EAST);
    expect(queriesFor(upstream, 'unaware.example')).toHaveLength(2);
  });

  test('forwards a query that forbids sending a subnet, and caches the answer for all clients', async () => {
    const name = 'untold.example';
    const first = await ask(name, NO_SUBNET);
    expect([first.data, first.subnets]).toEqual([[ANYWHERE], [NO_SUBNET]]);
    expect((await ask(name)).data).toEqual([ANYWHERE]);
    expect((await ask(name, NO_SUBNET)).subnets).toEqual([NO_SUBNET]);
    expect(queriesFor(upstream, name).map(subnetOf)).toEqual([NO_SUBNET]);
  });

  test.each<[string, number[]]>(MALFORMED.map((data) => [data.join('.'), data]))(
    'answers FORMERR to the malformed subnet %s',
    async (_text, data) => {
      expect((await ask('malformed.example', data)).rcode).toBe(Rcode.FORMERR);
      expect(queriesFor(upstream, 'malformed.example')).toEqual([]);
    },
  );

  test('answers FORMERR to two subnets', async () => {
    expect((await ask('two.example', EAST, WEST)).rcode).toBe(Rcode.FORMERR);
  });

  test('answers local names without upstreams, for all clients', async () => {
    const local = await ask('nas.example', EAST);
    expect([local.data, local.subnets]).toEqual([['10.0.0.9'], [EAST]]);
    const reserved = await ask('hidden.onion', EAST);
    expect([reserved.rcode, reserved.subnets]).toEqual([Rcode.NXDOMAIN, [EAST]]);
    expect([...queriesFor(upstream, 'nas.example'), ...queriesFor(upstream, 'hidden.onion')]).toEqual([]);
  });

  test('sends the subnet with the query for the target of an alias', async () => {
    const reply = await ask('alias.example', EAST);
    expect([reply.data, reply.subnets]).toEqual([
      ['target.example', addressFor(EAST)],
      [withScope(EAST, 24)],
    ]);
    expect((await ask('alias.example', WEST)).data).toEqual(['target.example', addressFor(WEST)]);
  });

  test('returns the cached answer for all clients if no upstream answers for the subnet', async () => {
    await ask('fallback.example');
    const before = upstream.udpScript;
    upstream.udpScript = (received) => {
      const id = idOf(received.bytes);
      received.reply(response(questionOf(received.bytes), { id, flags: 0x8180 | Rcode.SERVFAIL }));
    };
    const reply = await ask('fallback.example', EAST);
    upstream.udpScript = before;
    expect([reply.data, reply.subnets]).toEqual([[ANYWHERE], [EAST]]);
  });

  test('retries without EDNS if the upstream rejects the subnet option', async () => {
    const before = upstream.udpScript;
    upstream.udpScript = (received) => {
      const asked = questionOf(received.bytes);
      const formerr = response(asked, { id: idOf(received.bytes), flags: 0x8180 | Rcode.FORMERR });
      received.reply(subnetOf(received) === undefined ? answer(received, undefined) : formerr);
    };
    const reply = await ask('refused.example', EAST);
    upstream.udpScript = before;
    expect([reply.data, reply.subnets]).toEqual([[ANYWHERE], [EAST]]);
  });
});

describe('weir with default settings', () => {
  let running: Running;
  beforeAll(async () => {
    running = await start('');
  });
  afterAll(() => stop(running));

  test('removes subnets from queries, and does not return them', async () => {
    const { udp, upstream } = running;
    for (const ecs of [EAST, WEST, NORTH, NO_SUBNET, ...MALFORMED]) {
      const reply = await udp.exchange(query('strip.example', RRType.A, { edns: { subnets: [ecs] } }));
      expect([reply.rcode, reply.data, reply.subnets]).toEqual([Rcode.NOERROR, [ANYWHERE], []]);
    }
    const asked = queriesFor(upstream, 'strip.example');
    expect(asked.map(subnetOf)).toEqual([undefined]);
  });
});
