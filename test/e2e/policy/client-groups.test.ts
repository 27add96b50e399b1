/** Who asks decides what is answered: clients of several addresses, given groups by address and by subnet. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ExplainAnswer } from '../../../shared/api/explain-api.ts';
import { Rcode } from '../../../shared/dns/iana.ts';
import { nameFromText, nameToText } from '../../../shared/dns/name.ts';
import { a, cname, questionOf, response } from '../../support/dns/built-messages.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { TcpClient, UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, answerTo, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const BLOCKED = '0.0.0.0';
/** Every name below `cloaked.example` is an alias of this one. */
const TRACKER = 'tracker.example';

/** A name of the service netflix, which is blocked for one group while clients of two ask without a pause. */
const SERVICE = 'www.netflix.com';
const TURNS = 8;
const ASKED_AT_ONCE = 4;

/** Clients: the addresses they ask from. */
const BY_ADDRESS = '127.0.0.21';
const BY_SUBNET = '127.0.0.17';
const BY_LONGER_SUBNET = '127.0.0.25';
const UNKNOWN = '127.0.0.40';
const CLIENTS = [BY_ADDRESS, BY_SUBNET, BY_LONGER_SUBNET, UNKNOWN];

let upstream: ScriptedUpstream;
let lists: ListServer;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
  upstream.udpScript = (query) => query.reply(cloakedAnswerTo(query.bytes));
  lists = await startListServer();
  lists.serve('/kids', `toys.example\nshared.example\nreversed.example\nat-once.example\n${TRACKER}\n`);
});
afterAll(async () => {
  await upstream.close();
  await lists.close();
});

function cloakedAnswerTo(query: Uint8Array): Uint8Array {
  const asked = questionOf(query);
  // Weir mixes the case of what it asks.
  if (!nameToText(asked.qname).toLowerCase().endsWith('.cloaked.example')) return answerTo(query);
  const id = (query[0]! << 8) | query[1]!;
  const { qname } = asked;
  const target = nameFromText(TRACKER)!;
  return response(asked, {
    id,
    answers: [
      { ...cname('x.example', TRACKER), owner: qname },
      { ...a('x.example', EVERY_ADDRESS), owner: target },
    ],
  });
}

describe('weir with clients in groups', () => {
  let weir: Weir;
  let api: ApiClient;
  const udp = new Map<string, UdpClient>();
  let kids: number;
  let work: number;
  let client: number;
  beforeAll(async () => {
    weir = await Weir.start({ upstreams: [`127.0.0.1:${String(upstream.port)}`] });
    api = await weir.api();
    for (const address of CLIENTS) udp.set(address, await UdpClient.open(weir.dnsPort, '127.0.0.1', address));
    kids = (await api.createGroup('kids')).id;
    work = (await api.createGroup('work')).id;
    await api.addSource({ name: 'kids', url: lists.url('/kids'), group_ids: [kids] });
    const domain = { domain: 'games.example', action: 'deny', group_id: work };
    await api.expect(201, 'POST', '/managed-domains', domain);
    for (const [subnet_cidr, group_id] of [
      ['127.0.0.16/28', work],
      ['127.0.0.24/30', kids],
    ] as const)
      await api.expect(201, 'POST', '/client-subnets', { subnet_cidr, group_id });
    const manual = { ip_address: BY_ADDRESS, group_id: kids };
    client = (await api.expect<{ id: number }>(201, 'POST', '/clients', manual)).id;
  });
  afterAll(async () => {
    for (const socket of udp.values()) socket.close();
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });

  /** The last record of the answer to A, over UDP. */
  async function answerTold(address: string, name: string): Promise<unknown> {
    return (await udp.get(address)!.ask(name, 'A')).data.at(-1);
  }

  test('weir gives each client the policy of its group, over UDP and TCP, and logs the group', async () => {
    const expected = {
      [BY_ADDRESS]: { group: kids, toys: BLOCKED, games: EVERY_ADDRESS, by: `manual ${BY_ADDRESS}` },
      [BY_SUBNET]: { group: work, toys: EVERY_ADDRESS, games: BLOCKED, by: 'subnet 127.0.0.16/28' },
      [BY_LONGER_SUBNET]: { group: kids, toys: BLOCKED, games: EVERY_ADDRESS, by: 'subnet 127.0.0.24/30' },
      [UNKNOWN]: { group: 1, toys: EVERY_ADDRESS, games: EVERY_ADDRESS, by: 'default' },
    };
    for (const [address, { group, toys, games, by }] of Object.entries(expected)) {
      await using tcp = await TcpClient.open(weir.dnsPort, '127.0.0.1', address);
      for (const ask of [udp.get(address)!, tcp]) {
        expect([address, (await ask.ask('toys.example', 'A')).data]).toEqual([address, [toys]]);
        expect([address, (await ask.ask('games.example', 'A')).data]).toEqual([address, [games]]);
      }
      // What the checks of questions answer is the client's question too.
      expect((await udp.get(address)!.ask('localhost', 'A')).data).toEqual(['127.0.0.1']);
      const path = `/explain?domain=toys.example&client=${address}`;
      const explained = await api.expect<ExplainAnswer>(200, 'GET', path);
      expect(explained).toMatchObject({ group_id: group, answer: { answers: [{ data: toys }] } });
      const stage = explained.stages.find(({ stage: name }) => name === 'client_group');
      expect(stage).toMatchObject({ verdict: 'continue', detail: by });
      await api.untilQueryCount(5, `client=${address}`);
      const groups = (await api.queries(`client=${address}`)).map((row) => row.group_id);
      expect(groups).toEqual(groups.map(() => group));
    }
  });

  test('weir keeps what one group may see from another through the cache, whoever asks first', async () => {
    for (const [name, order] of [
      ['shared.example', [UNKNOWN, BY_ADDRESS]],
      ['reversed.example', [BY_ADDRESS, UNKNOWN]],
      ['allowed-first.cloaked.example', [UNKNOWN, BY_ADDRESS]],
      ['blocked-first.cloaked.example', [BY_ADDRESS, UNKNOWN]],
    ] as const)
      for (let round = 0; round < 3; round++)
        for (const address of order) {
          const expected = address === BY_ADDRESS ? BLOCKED : EVERY_ADDRESS;
          expect([name, address, await answerTold(address, name)]).toEqual([name, address, expected]);
        }
    const names = Array.from({ length: 200 }, (_, index) => [
      `n${String(index)}.cloaked.example`,
      `n${String(index)}.example`,
    ]).flat();
    const told = await Promise.all(
      [BY_ADDRESS, UNKNOWN].map(async (address) => {
        const replies = await udp.get(address)!.askAll(names.map((name) => ({ name, type: 'A' as const })));
        return replies.map(({ data }) => data.at(-1));
      }),
    );
    expect(told[0]).toEqual(names.map((name) => (name.includes('cloaked') ? BLOCKED : EVERY_ADDRESS)));
    expect(told[1]).toEqual(names.map(() => EVERY_ADDRESS));
  });

  /** Whether the name is blocked for the client; anything but the two answers that are possible fails. */
  async function isBlocked(from: string): Promise<boolean> {
    const { rcode, data } = await udp.get(from)!.ask(SERVICE, 'A');
    if (rcode === Rcode.NXDOMAIN) return true;
    expect(data).toEqual([EVERY_ADDRESS]);
    return false;
  }

  test('weir blocks a service from the first answer after the response, for its group alone', async () => {
    let isOver = false;
    const adultsAnswers = { blocked: 0, all: 0 };
    let kidsAnswers = 0;
    const askOn = async (from: string, note: (blocked: boolean) => void): Promise<void> => {
      while (!isOver) note(await isBlocked(from));
    };
    const asking = Array.from({ length: ASKED_AT_ONCE }, () => [
      askOn(BY_SUBNET, (blocked) => {
        adultsAnswers.all++;
        if (blocked) adultsAnswers.blocked++;
      }),
      askOn(BY_LONGER_SUBNET, () => {
        kidsAnswers++;
      }),
    ]).flat();
    const first: boolean[] = [];
    try {
      for (let turn = 0; turn < TURNS; turn++) {
        await api.expect(201, 'POST', '/services', { service_id: 'netflix', group_id: kids });
        first.push(await isBlocked(BY_LONGER_SUBNET));
        await api.expect(204, 'DELETE', `/services/netflix/groups/${String(kids)}`);
        first.push(await isBlocked(BY_LONGER_SUBNET));
      }
    } finally {
      isOver = true;
    }
    await Promise.all(asking);
    expect(first).toEqual(Array.from({ length: TURNS }, () => [true, false]).flat());
    expect(adultsAnswers.blocked).toBe(0);
    expect(Math.min(adultsAnswers.all, kidsAnswers)).toBeGreaterThan(TURNS);
  });

  test('weir moves clients with the response: to another group, with a disabled group, out of a subnet', async () => {
    await api.expect(200, 'PUT', `/clients/${String(client)}/group`, { group_id: work });
    expect(await answerTold(BY_ADDRESS, 'toys.example')).toBe(EVERY_ADDRESS);
    expect(await answerTold(BY_ADDRESS, 'games.example')).toBe(BLOCKED);
    await api.expect(200, 'PUT', `/clients/${String(client)}/group`, { group_id: kids });
    expect(await answerTold(BY_ADDRESS, 'toys.example')).toBe(BLOCKED);
    await api.expect(200, 'PUT', `/groups/${String(kids)}`, { enabled: false });
    expect(await answerTold(BY_ADDRESS, 'toys.example')).toBe(EVERY_ADDRESS);
    expect(await answerTold(BY_LONGER_SUBNET, 'games.example')).toBe(EVERY_ADDRESS);
    await api.expect(200, 'PUT', `/groups/${String(kids)}`, { enabled: true });
    expect(await answerTold(BY_ADDRESS, 'toys.example')).toBe(BLOCKED);
    const subnets = await api.expect<{ id: number; subnet_cidr: string }[]>(200, 'GET', '/client-subnets');
    const longer = subnets.find(({ subnet_cidr }) => subnet_cidr === '127.0.0.24/30')!;
    await api.expect(204, 'DELETE', `/client-subnets/${String(longer.id)}`);
    expect(await answerTold(BY_LONGER_SUBNET, 'toys.example')).toBe(EVERY_ADDRESS);
    expect(await answerTold(BY_LONGER_SUBNET, 'games.example')).toBe(BLOCKED);
  });
});
