/**
 * Answers that depend on the client: clients with several addresses, assigned to groups by address and by subnet, and
 * search engines that answer in safe mode for some groups.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ExplainAnswer } from '../../../shared/api/explain-api.ts';
import { Rcode, RRType } from '../../../shared/dns/iana.ts';
import { nameFromText, nameToText } from '../../../shared/dns/name.ts';
import { a, cname, idOf, questionOf, response } from '../../support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { TcpClient, UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, answerTo, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const BLOCKED = '0.0.0.0';
/** Every name below `cloaked.example` is an alias of this name. */
const TRACKER = 'tracker.example';

/** A name of the service netflix, which is blocked for one group while clients of two groups query it continuously. */
const SERVICE = 'www.netflix.com';
const TURNS = 8;
const ASKED_AT_ONCE = 4;

/** Addresses from which the clients query. */
const BY_ADDRESS = '127.0.0.21';
const BY_SUBNET = '127.0.0.17';
const BY_LONGER_SUBNET = '127.0.0.25';
const UNKNOWN = '127.0.0.40';
const CLIENTS = [BY_ADDRESS, BY_SUBNET, BY_LONGER_SUBNET, UNKNOWN];

let upstream: ScriptedUpstream;
let lists: ListServer;
let weir: Weir;
let api: ApiClient;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
  upstream.udpScript = (query) => query.reply(cloakedAnswerTo(query.bytes));
  lists = await startListServer();
  lists.serve('/kids', `toys.example\nshared.example\nreversed.example\nat-once.example\n${TRACKER}\n`);
  weir = await Weir.start({ upstreams: [`127.0.0.1:${String(upstream.port)}`] });
  api = await weir.api();
});
afterAll(async () => {
  const ended = await weir.stop();
  await upstream.close();
  await lists.close();
  expect(ended).toMatchObject({ code: 0 });
});

function cloakedAnswerTo(query: Uint8Array): Uint8Array {
  const asked = questionOf(query);
  // Weir randomizes the case of its questions.
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
  const udp = new Map<string, UdpClient>();
  let kids: number;
  let work: number;
  let client: number;
  beforeAll(async () => {
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
  afterAll(() => {
    for (const socket of udp.values()) socket.close();
  });

  /** The last record of the answer to A, over UDP. */
  async function lastRecordOf(address: string, name: string): Promise<unknown> {
    return (await udp.get(address)!.ask(name, 'A')).data.at(-1);
  }

  test('gives each client the policy of its group, over UDP and TCP, and logs the group', async () => {
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
      // Queries that are answered before policy applies are also logged with the client's group.
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

  test('does not share cached answers between groups with different policies', async () => {
    for (const [name, order] of [
      ['shared.example', [UNKNOWN, BY_ADDRESS]],
      ['reversed.example', [BY_ADDRESS, UNKNOWN]],
      ['allowed-first.cloaked.example', [UNKNOWN, BY_ADDRESS]],
      ['blocked-first.cloaked.example', [BY_ADDRESS, UNKNOWN]],
    ] as const)
      for (let round = 0; round < 3; round++)
        for (const address of order) {
          const expected = address === BY_ADDRESS ? BLOCKED : EVERY_ADDRESS;
          expect([name, address, await lastRecordOf(address, name)]).toEqual([name, address, expected]);
        }
    const names = Array.from({ length: 200 }, (_, index) => [
      `n${String(index)}.cloaked.example`,
      `n${String(index)}.example`,
    ]).flat();
    const reported = await Promise.all(
      [BY_ADDRESS, UNKNOWN].map(async (address) => {
        const replies = await udp.get(address)!.askAll(names.map((name) => ({ name, type: 'A' as const })));
        return replies.map(({ data }) => data.at(-1));
      }),
    );
    expect(reported[0]).toEqual(names.map((name) => (name.includes('cloaked') ? BLOCKED : EVERY_ADDRESS)));
    expect(reported[1]).toEqual(names.map(() => EVERY_ADDRESS));
  });

  /** Whether the name is blocked for the client; fails for any answer except the two expected ones. */
  async function isBlocked(from: string): Promise<boolean> {
    const { rcode, data } = await udp.get(from)!.ask(SERVICE, 'A');
    if (rcode === Rcode.NXDOMAIN) return true;
    expect(data).toEqual([EVERY_ADDRESS]);
    return false;
  }

  test('blocks a service for its group only, as soon as the response to the change arrives', async () => {
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

  test('a client is in its new group before the response to the change of a client, group or subnet', async () => {
    await api.expect(200, 'PUT', `/clients/${String(client)}/group`, { group_id: work });
    expect(await lastRecordOf(BY_ADDRESS, 'toys.example')).toBe(EVERY_ADDRESS);
    expect(await lastRecordOf(BY_ADDRESS, 'games.example')).toBe(BLOCKED);
    await api.expect(200, 'PUT', `/clients/${String(client)}/group`, { group_id: kids });
    expect(await lastRecordOf(BY_ADDRESS, 'toys.example')).toBe(BLOCKED);
    await api.expect(200, 'PUT', `/groups/${String(kids)}`, { enabled: false });
    expect(await lastRecordOf(BY_ADDRESS, 'toys.example')).toBe(EVERY_ADDRESS);
    expect(await lastRecordOf(BY_LONGER_SUBNET, 'games.example')).toBe(EVERY_ADDRESS);
    await api.expect(200, 'PUT', `/groups/${String(kids)}`, { enabled: true });
    expect(await lastRecordOf(BY_ADDRESS, 'toys.example')).toBe(BLOCKED);
    const subnets = await api.expect<{ id: number; subnet_cidr: string }[]>(200, 'GET', '/client-subnets');
    const longer = subnets.find(({ subnet_cidr }) => subnet_cidr === '127.0.0.24/30')!;
    await api.expect(204, 'DELETE', `/client-subnets/${String(longer.id)}`);
    expect(await lastRecordOf(BY_LONGER_SUBNET, 'toys.example')).toBe(EVERY_ADDRESS);
    expect(await lastRecordOf(BY_LONGER_SUBNET, 'games.example')).toBe(BLOCKED);
  });
});

const QNAME = Uint8Array.of(0xc0, 12);
/** Addresses in the upstream's answers; any name without its own address gets `REAL`. */
const REAL = '192.0.2.1';
const ADDRESSES: Readonly<Record<string, string>> = {
  'forcesafesearch.google.com': '198.51.100.1',
  'strict.bing.com': '198.51.100.2',
  'restrict.youtube.com': '198.51.100.3',
  'restrictmoderate.youtube.com': '198.51.100.4',
  'safe.duckduckgo.com': '198.51.100.5',
  'safesearch.brave.com': '198.51.100.6',
  'strict-safe-search.ecosia.org': '198.51.100.7',
  'safesearch.pixabay.com': '198.51.100.8',
};
const YANDEX = '213.180.193.56';

async function startWorld(): Promise<ScriptedUpstream> {
  const upstream = await ScriptedUpstream.start();
  upstream.udpScript = (query) => {
    const asked = questionOf(query.bytes);
    const address = ADDRESSES[nameToText(asked.qname).toLowerCase()] ?? REAL;
    const answers = asked.qtype === RRType.A ? [a(QNAME, address)] : [];
    query.reply(response(asked, { id: idOf(query.bytes), answers }));
  };
  return upstream;
}

describe('weir with safe search', () => {
  let world: ScriptedUpstream;
  let adult: UdpClient;
  let child: UdpClient;
  let searchers: number;
  beforeAll(async () => {
    world = await startWorld();
    const pools = [{ name: 'world', strategy: 'Failover', servers: [`${world.ip}:${String(world.port)}`] }];
    await api.expect(200, 'PATCH', '/config?force=true', { dns: { pools } });
    adult = await UdpClient.open(weir.dnsPort);
    child = await UdpClient.open(weir.dnsPort, '127.0.0.1', '127.0.0.9');
    ({ id: searchers } = await api.createGroup('searchers'));
    await api.expect(201, 'POST', '/client-subnets', { subnet_cidr: '127.0.0.9/32', group_id: searchers });
  });
  afterAll(async () => {
    adult.close();
    child.close();
    await world.close();
  });

  const configs = (): string => `/safe-search/configs/${String(searchers)}`;
  const set = (toggle: object): Promise<unknown> => api.expect(200, 'POST', configs(), toggle);
  const dataOf = async (client: UdpClient, name: string): Promise<unknown[]> =>
    (await client.ask(name, 'A')).data.map((data) => String(data).toLowerCase());

  test.each([
    ['www.google.co.uk', 'forcesafesearch.google.com'],
    ['WWW.Google.com', 'forcesafesearch.google.com'],
    ['www.bing.com', 'strict.bing.com'],
    ['m.youtube.com', 'restrict.youtube.com'],
    ['duckduckgo.com', 'safe.duckduckgo.com'],
    ['search.brave.com', 'safesearch.brave.com'],
    ['www.ecosia.org', 'strict-safe-search.ecosia.org'],
    ['pixabay.com', 'safesearch.pixabay.com'],
  ])('redirects %s to %s only for the group with safe search', async (name, target) => {
    await set({ engine: 'all', enabled: true });
    // Queries both clients in turn. In the second round, both answers come from the cache.
    for (let round = 0; round < 2; round++) {
      expect(await dataOf(child, name)).toEqual([target, ADDRESSES[target]]);
      expect(await dataOf(adult, name)).toEqual([REAL]);
    }
  });

  test('returns an address if the engine has no safe name, and no HTTPS or SVCB record that bypasses it', async () => {
    await set({ engine: 'all', enabled: true });
    expect(await dataOf(child, 'www.ya.ru')).toEqual([YANDEX]);
    for (const type of ['AAAA', 'HTTPS', 'CNAME'] as const)
      expect(await child.ask('www.ya.ru', type)).toMatchObject({ rcode: Rcode.NOERROR, answers: [] });
    for (const type of ['HTTPS', 'SVCB'] as const) {
      const reply = await child.ask('www.google.com', type);
      expect(reply).toMatchObject({ rcode: Rcode.NOERROR, answers: [] });
      expect(reply.authorities.map((record) => record.type)).toEqual(['SOA']);
    }
    expect((await child.ask('www.google.com', 'CNAME')).data).toEqual(['forcesafesearch.google.com']);
    expect((await child.ask('www.google.com', 'AAAA')).data).toEqual(['forcesafesearch.google.com']);
    // Subdomains of an engine's name, and names that only end in the same text, are not redirected.
    expect(await dataOf(child, 'mail.google.com')).toEqual([REAL]);
    expect(await dataOf(child, 'x.www.google.com')).toEqual([REAL]);
  });

  test('applies safe search settings immediately: per engine, both YouTube modes, disabled, deleted', async () => {
    await api.expect(204, 'DELETE', configs());
    expect(await dataOf(child, 'www.youtube.com')).toEqual([REAL]);
    await set({ engine: 'youtube', youtube_mode: 'moderate' });
    expect((await dataOf(child, 'www.youtube.com'))[0]).toBe('restrictmoderate.youtube.com');
    expect(await dataOf(child, 'www.bing.com')).toEqual([REAL]);
    await set({ engine: 'youtube', youtube_mode: 'strict' });
    expect((await dataOf(child, 'www.youtube.com'))[0]).toBe('restrict.youtube.com');
    await set({ engine: 'youtube', enabled: false });
    expect(await dataOf(child, 'www.youtube.com')).toEqual([REAL]);
    await set({ engine: 'all' });
    expect((await dataOf(child, 'www.youtube.com'))[0]).toBe('restrict.youtube.com');
    await api.expect(204, 'DELETE', configs());
    expect(await dataOf(child, 'www.youtube.com')).toEqual([REAL]);
  });

  test('does not redirect allowed or blocked names, and logs and explains redirects by safe search', async () => {
    await set({ engine: 'all' });
    const rule = { domain: 'www.google.de', action: 'allow', group_id: searchers };
    await api.expect(201, 'POST', '/managed-domains', rule);
    await api.expect(201, 'POST', '/managed-domains', { ...rule, domain: 'www.google.fr', action: 'deny' });
    expect(await dataOf(child, 'www.google.de')).toEqual([REAL]);
    expect(await dataOf(child, 'www.google.fr')).toEqual(['0.0.0.0']);
    await child.ask('www.google.it', 'A');
    await api.untilQueryCount(1, 'domain=www.google.it');
    expect((await api.queries('domain=www.google.it'))[0]).toMatchObject({ status: 'SAFE_SEARCH' });
    const path = '/explain?domain=www.google.it&type=A&client=127.0.0.9';
    const answer = await api.expect<ExplainAnswer>(200, 'GET', path);
    expect(answer).toMatchObject({ status: 'SAFE_SEARCH', group_id: searchers });
    expect(answer.stages.find(({ stage }) => stage === 'safe_search')?.verdict).toBe('unresolved');
  });
});
