/** Safe search: engines answer with their safe mode for the groups that want it, and for those only. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ExplainAnswer } from '../../../shared/api/explain-api.ts';
import { Rcode, RRType } from '../../../shared/dns/iana.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import { a, idOf, questionOf, response } from '../../support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const QNAME = Uint8Array.of(0xc0, 12);
/** Addresses of the upstream's world; any other name has the one of the real engines. */
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
  let upstream: ScriptedUpstream;
  let weir: Weir;
  let adult: UdpClient;
  let child: UdpClient;
  let api: ApiClient;
  let kids: number;
  beforeAll(async () => {
    upstream = await startWorld();
    weir = await Weir.start({ upstreams: [`${upstream.ip}:${String(upstream.port)}`] });
    adult = await UdpClient.open(weir.dnsPort);
    child = await UdpClient.open(weir.dnsPort, '127.0.0.1', '127.0.0.9');
    api = await weir.api();
    ({ id: kids } = await api.createGroup('kids'));
    await api.expect(201, 'POST', '/client-subnets', { subnet_cidr: '127.0.0.9/32', group_id: kids });
  });
  afterAll(async () => {
    adult.close();
    child.close();
    await upstream.close();
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });

  const configs = (): string => `/safe-search/configs/${String(kids)}`;
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
  ])('weir leads %s to %s for the group that wants it, and for no other', async (name, target) => {
    await set({ engine: 'all', enabled: true });
    // In turn, and both from the cache in the second round.
    for (let round = 0; round < 2; round++) {
      expect(await dataOf(child, name)).toEqual([target, ADDRESSES[target]]);
      expect(await dataOf(adult, name)).toEqual([REAL]);
    }
  });

  test('weir answers with an address where the engine has no name, and with nothing that leads around', async () => {
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
    // Neither names below nor beside an engine's.
    expect(await dataOf(child, 'mail.google.com')).toEqual([REAL]);
    expect(await dataOf(child, 'x.www.google.com')).toEqual([REAL]);
  });

  test('weir follows the settings at once: each engine by itself, both modes of YouTube, off, deleted', async () => {
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

  test('weir lets allowed names and blocked ones alone, and logs and explains what it rewrites', async () => {
    await set({ engine: 'all' });
    const rule = { domain: 'www.google.de', action: 'allow', group_id: kids };
    await api.expect(201, 'POST', '/managed-domains', rule);
    await api.expect(201, 'POST', '/managed-domains', { ...rule, domain: 'www.google.fr', action: 'deny' });
    expect(await dataOf(child, 'www.google.de')).toEqual([REAL]);
    expect(await dataOf(child, 'www.google.fr')).toEqual(['0.0.0.0']);
    await child.ask('www.google.it', 'A');
    await api.untilQueryCount(1, 'domain=www.google.it');
    expect((await api.queries('domain=www.google.it'))[0]).toMatchObject({ status: 'SAFE_SEARCH' });
    const path = '/explain?domain=www.google.it&type=A&client=127.0.0.9';
    const answer = await api.expect<ExplainAnswer>(200, 'GET', path);
    expect(answer).toMatchObject({ status: 'SAFE_SEARCH', group_id: kids });
    expect(answer.stages.find(({ stage }) => stage === 'safe_search')?.verdict).toBe('unresolved');
  });
});
