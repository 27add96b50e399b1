/** Keys that affect answers, with a check of each key. */
import { Rcode } from '../../../shared/dns/iana.ts';
import type { UpstreamDetail } from '../../../shared/api/upstreams-api.ts';
import { decodeMessage } from '../../../shared/dns/codec.ts';
import { subnetsOf } from '../../support/dns/dns-message.ts';
import { cookieOf, isMixed } from '../../support/dns/odd-upstreams.ts';
import type { ReceivedQuery } from '../../support/dns/scripted-upstream.ts';
import { EVERY_ADDRESS } from '../../support/dns/echoing-upstream.ts';
import { a, idOf, questionOf, response, soa } from '../../support/dns/built-messages.ts';
import type { LiveKey, LiveFixture } from './live-fixture.ts';

const FORWARDED = [EVERY_ADDRESS];
const BLOCKED = 'ads.example.net';

/** Row for a key that changes the answer to one question. */
const answerTo = (key: string, to: unknown, name: string, before: unknown, after: unknown): LiveKey => ({
  ...{ key, to, before, after },
  observe: (fixture) => fixture.answerTo(name),
});

/** Answer for a public name to which the scripted upstream gives a private address. */
const privateAddress = (name: string) => (fixture: LiveFixture) => {
  fixture.scripted.udpScript = (query) => {
    const answers = [a(Uint8Array.of(0xc0, 12), '10.0.0.1')];
    query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), answers }));
  };
  return fixture.answerTo(fixture.newName(name));
};
const onScripted = (fixture: LiveFixture) => ({ 'dns.pools': fixture.pools(fixture.scripted) });

/** Client subnets that Weir forwards to the upstream. */
async function forwardedSubnets(fixture: LiveFixture): Promise<unknown> {
  const name = fixture.newName();
  await fixture.ask(name, 'A', { edns: { subnets: [[0, 1, 24, 0, 192, 0, 2]] } });
  const last = fixture.first.udpQuestions.map(({ bytes }) => decodeMessage(bytes)!);
  const own = last.filter(({ questions }) => questions?.[0]?.name.toLowerCase() === name);
  return own.map((message) => subnetsOf(message).length);
}

/** Whether the upstream receives a query with this property for a new name. */
const hardened = (isSo: (query: ReceivedQuery) => boolean) => async (fixture: LiveFixture) => {
  const name = fixture.newName();
  await fixture.ask(name);
  return isSo(fixture.first.udpQuestions.find((query) => isFor(query, name))!);
};
const isFor = (query: ReceivedQuery, name: string): boolean =>
  decodeMessage(query.bytes)!.questions?.[0]?.name.toLowerCase() === name;
const hasCookie = (query: ReceivedQuery): boolean => cookieOf(query).length > 0;

/** Number of questions to the upstream for a name that is queried twice. */
async function upstreamQuestions(fixture: LiveFixture): Promise<number> {
  const before = fixture.first.udpQuestions.length;
  const name = fixture.newName();
  await fixture.ask(name);
  await fixture.ask(name);
  return fixture.first.udpQuestions.length - before;
}

/** TTL of a negative answer whose TTL at the upstream is two hours. */
async function negativeTtl(fixture: LiveFixture): Promise<unknown> {
  fixture.scripted.udpScript = (query) => {
    const authorities = [soa('example.com', 7200, 7200)];
    const reply = { id: idOf(query.bytes), flags: 0x8180 | Rcode.NXDOMAIN, authorities };
    query.reply(response(questionOf(query.bytes), reply));
  };
  return (await fixture.ask()).authorities[0]?.ttl;
}

const ttl = async (fixture: LiveFixture, name?: string): Promise<unknown> =>
  (await fixture.ask(name)).answers[0]?.ttl;

export const DNS_KEYS: readonly LiveKey[] = [
  {
    key: 'dns.pools',
    to: (fixture: LiveFixture) => fixture.pools(fixture.second),
    observe: (fixture) => fixture.answerTo(),
    before: FORWARDED,
    after: ['192.0.2.2'],
  },
  {
    key: 'dns.bootstrap',
    to: ({ second }: LiveFixture) => [`127.0.0.1:${String(second.port)}`],
    alongside: ({ first, second }) => ({
      'dns.bootstrap': ['127.0.0.1:9'],
      'dns.query_timeout_ms': 3000,
      'dns.pools': [
        { name: 'a', servers: [`udp://ns.example.net:${String(first.port)}`] },
        { name: 'b', priority: 2, servers: [`127.0.0.1:${String(second.port)}`] },
      ],
    }),
    observe: async (fixture) => {
      fixture.second.udpScript = (query) => {
        const { qname } = questionOf(query.bytes);
        const isHost = Buffer.from(qname).toString('latin1').toLowerCase().startsWith('\x02ns');
        const answers = [a(Uint8Array.of(0xc0, 12), isHost ? '127.0.0.1' : '192.0.2.2')];
        query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), answers }));
      };
      return fixture.answerTo();
    },
    before: ['192.0.2.2'],
    after: FORWARDED,
  },
  {
    key: 'dns.upstream_ca_path',
    to: (fixture: LiveFixture) => fixture.write('ca.pem', fixture.authority.cert),
    alongside: ({ second, tlsPort }) => ({
      'dns.pools': [
        { name: 'a', servers: [`tls://dns.example.org:${String(tlsPort)}@127.0.0.1`] },
        { name: 'b', priority: 2, servers: [`127.0.0.1:${String(second.port)}`] },
      ],
    }),
    observe: (fixture) => fixture.answerTo(),
    before: ['192.0.2.2'],
    after: FORWARDED,
  },
  {
    key: 'dns.query_timeout_ms',
    to: 100,
    alongside: onScripted,
    observe: (fixture) => {
      // The upstream answers only the second query, more than 100 ms later.
      fixture.scripted.udpScript = (query) => {
        const answers = [a(Uint8Array.of(0xc0, 12), '192.0.2.3')];
        const reply = response(questionOf(query.bytes), { id: idOf(query.bytes), answers });
        setTimeout(() => query.reply(reply), 400).unref();
      };
      return fixture.answerTo();
    },
    before: ['192.0.2.3'],
    after: Rcode.SERVFAIL,
  },
  {
    key: 'dns.default_strategy',
    to: 'Balanced',
    alongside: ({ first }) => ({
      'dns.pools': [{ name: 'live', servers: [`127.0.0.1:${String(first.port)}`] }],
    }),
    observe: async ({ api }) =>
      (await api.expect<UpstreamDetail[]>(200, 'GET', '/upstream/health/detail'))[0]!.strategy,
    before: 'Parallel',
    after: 'Balanced',
  },
  {
    key: 'dns.dhcp_leases',
    to: (fixture: LiveFixture) => [fixture.write('leases', '0 02:00:5e:10:00:01 192.0.2.44 laptop *\n')],
    alongside: { 'dns.local_domain': 'home.example' },
    observe: (fixture) => fixture.answerTo('laptop.home.example'),
    before: FORWARDED,
    after: ['192.0.2.44'],
  },
  { key: 'dns.ecs', to: 'forward', observe: forwardedSubnets, before: [0], after: [1] },
  { key: 'dns.cookies', to: 'on', observe: hardened(hasCookie), before: false, after: true },
  { key: 'dns.case_randomization', to: 'on', observe: hardened(isMixed), before: false, after: true },
  {
    key: 'dns.block_private_ptr',
    to: false,
    observe: (fixture) => fixture.answerTo('7.0.0.10.in-addr.arpa', 'PTR'),
    before: Rcode.NXDOMAIN,
    after: Rcode.NOERROR,
  },
  {
    key: 'dns.never_forward_reverse_lookups',
    to: true,
    observe: (fixture) => fixture.answerTo('1.1.1.1.in-addr.arpa', 'PTR'),
    before: Rcode.NOERROR,
    after: Rcode.NXDOMAIN,
  },
  answerTo('dns.block_non_fqdn', true, 'printer', FORWARDED, Rcode.NXDOMAIN),
  answerTo('dns.never_forward_non_fqdn', true, 'scanner', FORWARDED, Rcode.NXDOMAIN),
  answerTo('dns.special_names', false, 'localhost', ['127.0.0.1'], FORWARDED),
  answerTo('dns.block_doh_canary', false, 'use-application-dns.net', Rcode.NXDOMAIN, FORWARDED),
  answerTo('dns.block_private_relay', false, 'mask.icloud.com', Rcode.NXDOMAIN, FORWARDED),
  answerTo('dns.local_records', ['live.example.com 60 A 192.0.2.9'], 'live.example.com', FORWARDED, [
    '192.0.2.9',
  ]),
  {
    key: 'dns.local_domain',
    to: 'home.example',
    alongside: ({ second }) => ({ 'dns.local_dns_server': `127.0.0.1:${String(second.port)}` }),
    observe: (fixture) => fixture.answerTo(fixture.newName('home.example')),
    before: FORWARDED,
    after: ['192.0.2.2'],
  },
  {
    key: 'dns.local_dns_server',
    to: ({ second }: LiveFixture) => `127.0.0.1:${String(second.port)}`,
    alongside: { 'dns.local_domain': 'home.example' },
    observe: (fixture) => fixture.answerTo(fixture.newName('home.example')),
    before: FORWARDED,
    after: ['192.0.2.2'],
  },
  {
    key: 'dns.rebinding_protection',
    to: false,
    alongside: onScripted,
    observe: privateAddress('example.com'),
    before: Rcode.NOERROR,
    after: ['10.0.0.1'],
  },
  {
    key: 'dns.rebinding_allowlist',
    to: ['lan.example.org'],
    alongside: onScripted,
    observe: privateAddress('lan.example.org'),
    before: Rcode.NOERROR,
    after: ['10.0.0.1'],
  },
  { key: 'cache.enabled', to: false, observe: upstreamQuestions, before: 1, after: 2 },
  { key: 'cache.min_ttl_secs', to: 7200, observe: (fixture) => ttl(fixture), before: 3600, after: 7200 },
  { key: 'cache.max_ttl_secs', to: 60, observe: (fixture) => ttl(fixture), before: 3600, after: 60 },
  {
    key: 'cache.negative_max_ttl_secs',
    to: 60,
    alongside: onScripted,
    observe: negativeTtl,
    before: 3600,
    after: 60,
  },
  answerTo('blocking.enabled', false, BLOCKED, ['0.0.0.0'], FORWARDED),
  answerTo('blocking.mode', 'nxdomain', BLOCKED, ['0.0.0.0'], Rcode.NXDOMAIN),
  { key: 'blocking.ttl_secs', to: 77, observe: (fixture) => ttl(fixture, BLOCKED), before: 10, after: 77 },
  {
    ...answerTo('blocking.custom_ipv4', '192.0.2.5', BLOCKED, Rcode.NOERROR, ['192.0.2.5']),
    alongside: { 'blocking.custom_ipv6': '2001:db8::5', 'blocking.mode': 'custom_ip' },
  },
  {
    key: 'blocking.custom_ipv6',
    to: '2001:db8::6',
    alongside: { 'blocking.custom_ipv4': '192.0.2.5', 'blocking.mode': 'custom_ip' },
    observe: (fixture) => fixture.answerTo(BLOCKED, 'AAAA'),
    before: Rcode.NOERROR,
    after: ['2001:db8::6'],
  },
];
